import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", parts: tl.i64, TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(R):
        q = r // parts  # <- E313 fixable
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.exp(y_ub, x_ub)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
