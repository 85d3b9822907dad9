import kernelwright.language as tl


@tl.kernel
def k(p: "f32[R, C]", t: "f32[C]", w: "f32[R, 8]", ROWS: tl.const = 8, TILE: tl.const = 512):
    p_ub = tl.ub((ROWS, TILE), "f32", buf=2)
    t_ub = tl.ub(TILE, "f32")
    h_ub = tl.ub((ROWS, TILE), "f32")
    a_ub = tl.ub((ROWS, TILE), "f32")
    s_ub = tl.ub((ROWS, 1), "f32")
    o_ub = tl.ub((ROWS, 8), "f32")
    z_ub = tl.ub((ROWS, 8), "f32")
    for r, m in tl.core_tiles(R, ROWS):
        with tl.compute():
            tl.fill(a_ub, 0.0, m, TILE)
            tl.fill(z_ub, 0.0, m, 8)
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(p_ub, p[r:r + m, c:c + n])
                tl.load(t_ub, t[c:c + n])
            with tl.compute():
                tl.mul(h_ub, p_ub, t_ub)
                tl.rsubs(h_ub, 1.0, h_ub)
                tl.maxs(h_ub, h_ub, 0.0)
                tl.add(a_ub[:, 0:n], a_ub[:, 0:n], h_ub)
        with tl.compute():
            tl.reduce_sum(s_ub, a_ub, axis=1)
            tl.add(o_ub, z_ub, s_ub)
        with tl.copyout():
            tl.store(w[r:r + m, 0:8], o_ub)
