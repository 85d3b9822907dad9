"""Softmax of each row, whatever the length of a row: three reads and one write."""

import kernelwright.language as tl

LOWEST = -3.0e38


@tl.kernel
def softmax_k(x: "f32[R, C]", y: "f32[R, C]", TILE: tl.const):
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    e_ub = tl.ub(TILE, "f32")
    for r in tl.core_range(R):
        m = LOWEST
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                m = tl.max(m, tl.reduce_max(x_ub))
        s = 0.0
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.subs(e_ub, x_ub, m)
                tl.exp(e_ub, e_ub)
                s = s + tl.reduce_sum(e_ub)
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(x_ub, x[r, c:c + n])
            with tl.compute():
                tl.subs(e_ub, x_ub, m)
                tl.exp(e_ub, e_ub)
                tl.muls(y_ub, e_ub, 1.0 / s)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)


@tl.host
def softmax(x: "f32[R, C]") -> "f32[R, C]":
    y = tl.empty("f32[R, C]")
    TILE = tl.param("TILE", default=4096, multiple_of=64)
    softmax_k[tl.min(tl.num_cores(), R)](x, y, TILE=TILE)
    return y
