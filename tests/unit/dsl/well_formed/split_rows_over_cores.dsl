import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", w: "f32[R, P] inout", P2: tl.const = 4, TILE: tl.const = 1024):
    tl.require(P == P2)
    x_ub = tl.ub(TILE, "f32", buf=2)
    acc_ub = tl.ub(TILE, "f32")
    s_ub = tl.ub(8, "f32", buf=2)
    for t in tl.core_range(R * P):
        r = t // P
        p = t % P
        lo = p * tl.cdiv(C, P)
        hi = tl.min(lo + tl.cdiv(C, P), C)
        with tl.compute():
            tl.fill(acc_ub, 0.0, TILE)
        if lo < hi:
            for c, n in tl.tiles(hi - lo, TILE):
                with tl.copyin():
                    tl.load(x_ub, x[r, lo + c:lo + c + n])
                with tl.compute():
                    tl.add(acc_ub[0:n], acc_ub[0:n], x_ub)
        with tl.compute():
            tl.fill(s_ub, tl.reduce_sum(acc_ub), 1)
        with tl.copyout():
            tl.store(w[r, p:p + 1], s_ub)
