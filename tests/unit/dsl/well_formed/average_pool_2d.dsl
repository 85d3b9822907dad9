import kernelwright.language as tl


@tl.kernel
def k(x: "f32[NC, H, W]", y: "f32[NC, OH, OW]", K: tl.const = 11, TILE: tl.const = 512):
    tl.require(OH * K <= H)
    tl.require(OW * K <= W)
    x_ub = tl.ub(TILE * K, "f32", buf=2)
    a_ub = tl.ub(TILE * K, "f32")
    t_ub = tl.ub(TILE, "f32")
    y_ub = tl.ub(TILE, "f32", buf=2)
    for t in tl.core_range(NC * OH):
        c = t // OH
        oh = t % OH
        for ow, n in tl.tiles(OW, TILE):
            with tl.compute():
                tl.fill(a_ub, 0.0, n * K)
                tl.fill(y_ub, 0.0, n)
            for kh in range(K):
                with tl.copyin():
                    tl.load(x_ub, x[c, oh * K + kh, ow * K:ow * K + n * K])
                with tl.compute():
                    tl.add(a_ub, a_ub, x_ub)
            for kw in range(K):
                with tl.compute():
                    tl.strided(t_ub, a_ub, kw, K, n)
                    tl.add(y_ub, y_ub, t_ub)
            with tl.compute():
                tl.muls(y_ub, y_ub, 1.0 / (K * K))
            with tl.copyout():
                tl.store(y[c, oh, ow:ow + n], y_ub)
