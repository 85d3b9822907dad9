import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N, C, S]", g: "f32[C]", y: "f32[N, C, S]", TILE: tl.const = 2048):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for t in tl.core_range(N * C):
        i = t // C
        ch = t % C
        with tl.copyin():
            scale = tl.load_scalar(g[ch])
        for s, n in tl.tiles(S, TILE):
            with tl.copyin():
                tl.load(x_ub, x[i, ch, s:s + n])
            with tl.compute():
                tl.muls(y_ub, x_ub, scale)
            with tl.copyout():
                tl.store(y[i, ch, s:s + n], y_ub)
