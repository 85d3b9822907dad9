import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", y: "f32[N]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for i, n in tl.tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.exp(y_ub, x_ub)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)  # <- E501 fixable
