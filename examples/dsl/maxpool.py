"""2-D max pooling with stride 1: one output row at a time, K by K shifted reads."""

import kernelwright.language as tl


@tl.kernel
def maxpool2d_k(x: "f32[NC, H, W]", y: "f32[NC, OH, OW]",
                K: tl.const, P: tl.const, TILE: tl.const):
    v_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    for t in tl.core_range(NC * OH):
        nc = t // OH
        oh = t % OH
        for ow, n in tl.tiles(OW, TILE):
            with tl.compute():
                tl.fill(y_ub, -tl.inf, n)
            for ih in range(tl.max(oh - P, 0), tl.min(oh - P + K, H)):
                for kw in range(K):
                    with tl.copyin():
                        tl.load(v_ub, x[nc, ih, ow - P + kw:ow - P + kw + n], fill=-tl.inf)
                    with tl.compute():
                        tl.max(y_ub, y_ub, v_ub)
            with tl.copyout():
                tl.store(y[nc, oh, ow:ow + n], y_ub)


@tl.host
def maxpool2d(
    x: "f32[N, C, H, W]", K: tl.const = 3, P: tl.const = 1
) -> "f32[N, C, H + 2*P - K + 1, W + 2*P - K + 1]":
    OH = H + 2 * P - K + 1
    OW = W + 2 * P - K + 1
    tl.check(OH >= 1 and OW >= 1, "the window is larger than the padded image")
    y = tl.empty("f32[N, C, OH, OW]")
    TILE = tl.param("TILE", default=1024, multiple_of=64)
    maxpool2d_k[tl.min(tl.num_cores(), N * C * OH)](
        tl.view(x, "f32[N*C, H, W]"), tl.view(y, "f32[N*C, OH, OW]"), K=K, P=P, TILE=TILE
    )
    return y
