import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R*C]", y: "f32[R*C]", R: tl.i64, C: tl.i64, TILE: tl.const = 2048):
    tl.require(R >= 1 and C >= 1)
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(R):
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r * C + c:r * C + c + n])
            with tl.compute():
                tl.relu(y_ub, x_ub)
            with tl.copyout():
                tl.store(y[r * C + c:r * C + c + n], y_ub)
