"""GELU, the exact form, of every element: one read and one write of global memory."""

import kernelwright.language as tl


@tl.kernel
def gelu_k(x: "f32[N]", y: "f32[N]", TILE: tl.const):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.muls(y_ub, x_ub, 0.7071067811865476)
            tl.erf(y_ub, y_ub)
            tl.adds(y_ub, y_ub, 1.0)
            tl.mul(y_ub, y_ub, x_ub)
            tl.muls(y_ub, y_ub, 0.5)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)


@tl.host
def gelu(x: "f32[A, B]") -> "f32[A, B]":
    y = tl.empty("f32[A, B]")
    TILE = tl.param("TILE", default=4096, multiple_of=64)
    gelu_k[tl.num_cores()](tl.view(x, "f32[A*B]"), tl.view(y, "f32[A*B]"), TILE=TILE)
    return y
