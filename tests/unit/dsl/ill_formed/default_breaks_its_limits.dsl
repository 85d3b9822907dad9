import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    tl.require(C <= TILE)
    for r in tl.core_range(R):
        with tl.copyin():
            tl.load(x_ub, x[r, 0:C])
        with tl.compute():
            tl.exp(y_ub, x_ub)
        with tl.copyout():
            tl.store(y[r, 0:C], y_ub)


@tl.host
def f(x: "f32[R, C]") -> "f32[R, C]":
    y = tl.empty("f32[R, C]")
    TILE = tl.param("TILE", default=1000, multiple_of=64)  # <- E601 fixable
    k[tl.num_cores()](x, y, TILE=TILE)
    return y
