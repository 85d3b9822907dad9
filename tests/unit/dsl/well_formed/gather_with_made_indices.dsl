import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    tl.require(C <= TILE)
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    i_ub = tl.ub(TILE, "i32")
    with tl.compute():
        tl.iota(i_ub, 0, C)
    for r in tl.core_range(R):
        with tl.copyin():
            tl.load(x_ub, x[r, 0:C])
        with tl.compute():
            tl.gather(y_ub, x_ub, i_ub)
        with tl.copyout():
            tl.store(y[r, 0:C], y_ub)
