import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    tl.require(C <= TILE)
    tl.require(C > 1)
    for r in tl.core_range(R):
        with tl.copyin():
            tl.load(x_ub, x[r, 0:C])
        with tl.compute():
            tl.max(y_ub, x_ub[0:C - 1], x_ub[1:C])  # <- E310
        with tl.copyout():
            tl.store(y[r, 0:C - 1], y_ub)
