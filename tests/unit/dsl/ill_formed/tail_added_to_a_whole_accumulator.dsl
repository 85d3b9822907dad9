import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    a_ub = tl.ub(TILE, "f32")
    for r in tl.core_range(R):
        with tl.compute():
            tl.fill(a_ub, 0.0, TILE)
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.add(y_ub, a_ub, x_ub)  # <- E306 fixable
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
