import kernelwright.language as tl


@tl.kernel
def k(x: "f32[A, R, B]", y: "f32[A, B]", ROWS: tl.const = 8, TILE: tl.const = 512):
    x_ub = tl.ub((ROWS, TILE), "f32", buf=2)
    p_ub = tl.ub((1, TILE), "f32")
    acc_ub = tl.ub((1, TILE), "f32", buf=2)
    for a in tl.core_range(A):
        for b, n in tl.tiles(B, TILE):
            with tl.compute():
                tl.fill(acc_ub, 0.0, 1, n)
            for r, m in tl.tiles(R, ROWS):
                with tl.copyin():
                    tl.load(x_ub, x[a, r:r + m, b:b + n])
                with tl.compute():
                    tl.reduce_sum(p_ub, x_ub, axis=0)
                    tl.add(acc_ub, acc_ub, p_ub)
            with tl.copyout():
                tl.store(y[a:a + 1, b:b + n], acc_ub)
