import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", y: "f32[N]", TILE: tl.const):
    x_ub = tl.ub(TILE, "f32", buf=2)  # <- E301 fixable
    y_ub = tl.ub(TILE, "f32", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.gelu(y_ub, x_ub)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)


@tl.host
def f(x: "f32[N]") -> "f32[N]":
    y = tl.empty("f32[N]")
    k[tl.num_cores()](x, y, TILE=tl.param("TILE", default=8192, multiple_of=64))
    return y
