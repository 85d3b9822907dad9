import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", y: "f32[8]", TILE: tl.const = 2048):
    x_ub = tl.ub(TILE, "f32", buf=2)
    s_ub = tl.ub(8, "f32", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.fill(s_ub, tl.reduce_sum(x_ub), 8)
        with tl.copyout():
            tl.store_add(y[0:8], s_ub)
