import kernelwright.language as tl


@tl.kernel
def k(p: "f32[N]", g: "f32[N]", m: "f32[N]", v: "f32[N]", o: "f32[N]", b1: tl.f32, b2: tl.f32, c1: tl.f32, c2: tl.f32, lr: tl.f32, eps: tl.f32, TILE: tl.const = 2048):
    p_ub = tl.ub(TILE, "f32", buf=2)
    g_ub = tl.ub(TILE, "f32", buf=2)
    m_ub = tl.ub(TILE, "f32", buf=2)
    v_ub = tl.ub(TILE, "f32", buf=2)
    t_ub = tl.ub(TILE, "f32")
    o_ub = tl.ub(TILE, "f32", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(p_ub, p[i:i + n])
            tl.load(g_ub, g[i:i + n])
            tl.load(m_ub, m[i:i + n])
            tl.load(v_ub, v[i:i + n])
        with tl.compute():
            tl.muls(m_ub, m_ub, b1)
            tl.axpy(m_ub, g_ub, 1.0 - b1)
            tl.muls(v_ub, v_ub, b2)
            tl.mul(t_ub, g_ub, g_ub)
            tl.axpy(v_ub, t_ub, 1.0 - b2)
            tl.muls(t_ub, v_ub, c2)
            tl.sqrt(t_ub, t_ub)
            tl.adds(t_ub, t_ub, eps)
            tl.muls(o_ub, m_ub, lr * c1)
            tl.div(o_ub, o_ub, t_ub)
            tl.sub(o_ub, p_ub, o_ub)
        with tl.copyout():
            tl.store(o[i:i + n], o_ub)
