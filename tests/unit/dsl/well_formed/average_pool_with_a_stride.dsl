import kernelwright.language as tl


@tl.kernel
def k(x: "f32[NC, L]", y: "f32[NC, OL]", S: tl.const = 2, K: tl.const = 3, P: tl.const = 1,
      TILE: tl.const = 512):
    x_ub = tl.ub(TILE * S, "f32", buf=2)
    t_ub = tl.ub(TILE, "f32")
    y_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(NC):
        for o, n in tl.tiles(OL, TILE):
            with tl.compute():
                tl.fill(y_ub, 0.0, n)
            for k in range(K):
                with tl.copyin():
                    tl.load(x_ub, x[r, o * S - P + k:o * S - P + k + n * S], fill=0.0)
                with tl.compute():
                    tl.strided(t_ub, x_ub, 0, S, n)
                    tl.add(y_ub, y_ub, t_ub)
            with tl.compute():
                tl.muls(y_ub, y_ub, 1.0 / K)
            with tl.copyout():
                tl.store(y[r, o:o + n], y_ub)
