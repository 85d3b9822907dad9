import kernelwright.language as tl


@tl.kernel
def k(x: "bf16[N]", y: "bf16[N]", TILE: tl.const = 2048):
    x_ub = tl.ub(TILE, "bf16", buf=2)
    t_ub = tl.ub(TILE, "f32")
    y_ub = tl.ub(TILE, "bf16", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.cast(t_ub, x_ub)
            tl.exp(t_ub, t_ub)
            tl.cast(y_ub, t_ub, round="rint")
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)
