"""Sum over the middle dimension of (A, R, B): lane-wise accumulation, no scalar sync."""

import kernelwright.language as tl


@tl.kernel
def sum_middle_k(x: "f32[A, R, B]", y: "f32[A, B]", TILE: tl.const):
    x_ub = tl.ub(TILE, "f32", buf=2)
    acc_ub = tl.ub(TILE, "f32", buf=2)
    for t in tl.core_range(A * tl.cdiv(B, TILE)):
        a = t // tl.cdiv(B, TILE)
        b = t % tl.cdiv(B, TILE) * TILE
        n = tl.min(TILE, B - b)
        with tl.compute():
            tl.fill(acc_ub, 0.0, n)
        for r in range(R):
            with tl.copyin():
                tl.load(x_ub, x[a, r, b:b + n])
            with tl.compute():
                tl.add(acc_ub, acc_ub, x_ub)
        with tl.copyout():
            tl.store(y[a, b:b + n], acc_ub)


@tl.host
def sum_middle(x: "f32[A, R, B]") -> "f32[A, B]":
    y = tl.empty("f32[A, B]")
    TILE = tl.param("TILE", default=4096, multiple_of=64)
    sum_middle_k[tl.num_cores()](x, y, TILE=TILE)
    return y
