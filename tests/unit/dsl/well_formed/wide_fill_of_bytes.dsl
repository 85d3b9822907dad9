import kernelwright.language as tl


@tl.kernel
def k(x: "u8[R, C]", y: "f16[R, C]", P: tl.const = 70, TILE: tl.const = 48):
    x_ub = tl.ub(TILE, "u8", buf=2)
    y_ub = tl.ub(TILE, "f16", buf=2)
    t_ub = tl.ub(TILE, "f16")
    for r in tl.core_range(R):
        for c, n in tl.tiles(C, TILE):
            with tl.compute():
                tl.fill(y_ub, 0.0, n)
            for k in range(3):
                with tl.copyin():
                    tl.load(x_ub, x[r, c - P + k * P:c - P + k * P + n], fill=3)
                with tl.compute():
                    tl.cast(t_ub, x_ub)
                    tl.add(y_ub, y_ub, t_ub)
            with tl.copyout():
                tl.store(y[r, c:c + n], y_ub)
