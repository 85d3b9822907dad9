import kernelwright.language as tl


@tl.kernel
def k(x: "f32[M, N]", y: "f32[N, M]", T: tl.const = 64):
    x_ub = tl.ub((T, T), "f32", buf=2)
    y_ub = tl.ub((T, T), "f32", buf=2)
    for i, m in tl.core_tiles(M, T):
        for j, n in tl.tiles(N, T):
            with tl.copyin():
                tl.load(x_ub, x[i:i + m, j:j + n])
            with tl.compute():
                tl.transpose(y_ub, x_ub)
            with tl.copyout():
                tl.store(y[j:j + n, i:i + m], y_ub)
