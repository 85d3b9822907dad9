import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(R):
        s = 0
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                s = s + tl.reduce_sum(x_ub)  # <- E405 fixable
                tl.muls(y_ub, x_ub, s)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
