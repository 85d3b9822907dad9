import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 2048):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    m_ub = tl.ub(TILE, "f32")
    n_ub = tl.ub(TILE, "f32")
    s_ub = tl.ub(TILE, "f32")
    t_ub = tl.ub(TILE, "f32")
    for r in tl.core_range(R):
        with tl.compute():
            tl.fill(m_ub, -3.0e38, TILE)
            tl.fill(s_ub, 0.0, TILE)
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.max(n_ub, m_ub[0:n], x_ub)
                tl.sub(t_ub, m_ub[0:n], n_ub)
                tl.exp(t_ub, t_ub)
                tl.mul(s_ub[0:n], s_ub[0:n], t_ub)
                tl.sub(t_ub, x_ub, n_ub)
                tl.exp(t_ub, t_ub)
                tl.add(s_ub[0:n], s_ub[0:n], t_ub)
                tl.copy(m_ub[0:n], n_ub)
        with tl.compute():
            m = tl.reduce_max(m_ub)
            tl.subs(m_ub, m_ub, m)
            tl.exp(m_ub, m_ub)
            tl.mul(s_ub, s_ub, m_ub)
            s = tl.reduce_sum(s_ub)
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.subs(y_ub, x_ub, m)
                tl.exp(y_ub, y_ub)
                tl.divs(y_ub, y_ub, s)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
