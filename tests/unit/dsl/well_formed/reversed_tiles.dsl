import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 1024):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    c_ub = tl.ub(TILE, "f32")
    for r in tl.core_range(R):
        after = 0.0
        for c, n in tl.tiles(C, TILE, reverse=True):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.cumsum(c_ub, x_ub)
                total = tl.reduce_sum(x_ub)
                tl.sub(y_ub, x_ub, c_ub)
                tl.adds(y_ub, y_ub, total + after)
                after = after + total
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
