import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", m: "bool[R, C]", y: "f32[R, C]", TILE: tl.const = 1024):
    x_ub = tl.ub(TILE, "f32", buf=2)
    m_ub = tl.ub(TILE, "u8", buf=2)
    f_ub = tl.ub(TILE, "f32")
    carry_ub = tl.ub(8, "f32")
    y_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(R):
        with tl.compute():
            tl.fill(carry_ub, 0.0, 1)
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
                tl.load(m_ub, m[r, c:c + n])
            with tl.compute():
                tl.cast(f_ub, m_ub)
                tl.mul(f_ub, f_ub, x_ub)
                tl.cumsum(y_ub, f_ub, carry_ub)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
