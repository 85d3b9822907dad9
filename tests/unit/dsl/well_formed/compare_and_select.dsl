import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", y: "f32[N]", TILE: tl.const = 2048):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    m_ub = tl.ub(TILE, "mask")
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.cmp(m_ub, x_ub, 0.0, "gt")
            tl.select(y_ub, m_ub, x_ub, 0.0)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)
