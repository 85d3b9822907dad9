import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const = 512):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(R):
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.exp(y_ub, x_ub)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)


@tl.host
def f(x: "f32[R, C]") -> "f32[R, C]":
    y = tl.empty("f32[R, C]")
    k[tl.num_cores()](y, y)  # <- E507
    return y
