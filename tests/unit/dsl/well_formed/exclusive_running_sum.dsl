import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 1024):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    z_ub = tl.ub(8, "f32", buf=2)
    carry_ub = tl.ub(8, "f32")
    for r in tl.core_range(R):
        with tl.compute():
            tl.fill(carry_ub, 0.0, 1)
            tl.fill(z_ub, 0.0, 1)
        with tl.copyout():
            tl.store(y[r, 0:1], z_ub)
        for c, n in tl.tiles(C - 1, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.cumsum(y_ub, x_ub, carry_ub)
            with tl.copyout():
                tl.store(y[r, c + 1:c + 1 + n], y_ub)
