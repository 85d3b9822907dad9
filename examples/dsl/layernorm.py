"""Layer normalisation of rows that fit on chip: gamma and beta stay there for all rows."""

import kernelwright.language as tl


@tl.kernel
def layernorm_k(x: "f32[R, C]", g: "f32[C]", b: "f32[C]", y: "f32[R, C]",
                TILE: tl.const, eps: tl.f32):
    tl.require(C <= TILE)
    g_ub = tl.ub(TILE, "f32")
    b_ub = tl.ub(TILE, "f32")
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    d_ub = tl.ub(TILE, "f32")
    with tl.copyin():
        tl.load(g_ub, g[0:C])
        tl.load(b_ub, b[0:C])
    for r in tl.core_range(R):
        with tl.copyin():
            tl.load(x_ub, x[r, 0:C])
        with tl.compute():
            mean = tl.reduce_sum(x_ub) / C
            tl.subs(d_ub, x_ub, mean)
            tl.mul(y_ub, d_ub, d_ub)
            var = tl.reduce_sum(y_ub) / C
            rstd = 1.0 / tl.sqrt(var + eps)
            tl.muls(d_ub, d_ub, rstd)
            tl.mul(d_ub, d_ub, g_ub)
            tl.add(y_ub, d_ub, b_ub)
        with tl.copyout():
            tl.store(y[r, 0:C], y_ub)


@tl.host
def layernorm(x: "f32[R, C]", g: "f32[C]", b: "f32[C]", eps: tl.f32 = 1e-5) -> "f32[R, C]":
    y = tl.empty("f32[R, C]")
    TILE = tl.param("TILE", default=4096, multiple_of=64)
    tl.check(C <= TILE, "a row must fit on chip: use a larger TILE or a tiled kernel")
    layernorm_k[tl.min(tl.num_cores(), R)](x, g, b, y, TILE=TILE, eps=eps)
    return y
