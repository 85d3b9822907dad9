import kernelwright.language as tl


@tl.kernel
def k(p: "f32[N] inout", g: "f32[N]", lr: tl.f32, TILE: tl.const = 2048):
    p_ub = tl.ub(TILE, "f32", buf=2)
    g_ub = tl.ub(TILE, "f32", buf=2)
    o_ub = tl.ub(TILE, "f32", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(p_ub, p[i:i + n])
            tl.load(g_ub, g[i:i + n])
        with tl.compute():
            tl.copy(o_ub, p_ub)
            tl.axpy(o_ub, g_ub, -lr)
        with tl.copyout():
            tl.store(p[i:i + n], o_ub)
