import kernelwright.language as tl


@tl.kernel
def k(x: "i32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "i32", buf=2)
    m_ub = tl.ub(TILE, "mask")
    o_ub = tl.ub(TILE, "f32")
    y_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(R):
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.cmp(m_ub, x_ub, 0, "lt")  # <- E403
                tl.fill(o_ub, 1.0, n)
                tl.select(y_ub, m_ub, o_ub, 0.0)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
