import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", w: "f32[R, C] inout", y: "f32[R, C]", TILE: tl.const = 512):
    a_ub = tl.ub(TILE, "f32", buf=2)
    b_ub = tl.ub(TILE, "f32", buf=2)
    c_ub = tl.ub(TILE, "f32", buf=2)
    d_ub = tl.ub(TILE, "f32", buf=2)
    for r in tl.core_range(R):
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(a_ub, x[r, c:c + n])
            with tl.compute():
                tl.exp(b_ub, a_ub)
            with tl.copyout():
                tl.store(w[r, c:c + n], b_ub)
    for r in tl.core_range(R):
        for c, n in tl.tiles(C, TILE):
            with tl.copyin():
                tl.load(c_ub, w[R - 1 - r, c:c + n])  # <- E502 fixable
            with tl.compute():
                tl.exp(d_ub, c_ub)
            with tl.copyout():
                tl.store(y[r, c:c + n], d_ub)
