import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", i: "i32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    i_ub = tl.ub(TILE, "i32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    tl.require(C <= TILE)
    for r in tl.core_range(R):
        with tl.copyin():
            tl.load(x_ub, x[r, 0:C])
            tl.load(i_ub, i[r, 0:C])
        with tl.compute():
            tl.gather(y_ub, x_ub, i_ub)  # <- E320 fixable
        with tl.copyout():
            tl.store(y[r, 0:C], y_ub)
