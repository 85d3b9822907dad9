import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N, G, D, S]", g: "f32[G, D]", y: "f32[N, G, D, S]", eps: tl.f32, TILE: tl.const = 2048):
    x_ub = tl.ub(TILE, "f32", buf=2)
    q_ub = tl.ub(TILE, "f32")
    s_ub = tl.ub(TILE, "f32")
    ss_ub = tl.ub(TILE, "f32")
    y_ub = tl.ub(TILE, "f32", buf=2)
    for t in tl.core_range(N * G):
        b = t // G
        h = t % G
        with tl.compute():
            tl.fill(s_ub, 0.0, TILE)
            tl.fill(ss_ub, 0.0, TILE)
        for d in range(D):
            for i, n in tl.tiles(S, TILE):
                with tl.copyin():
                    tl.load(x_ub, x[b, h, d, i:i + n])
                with tl.compute():
                    tl.add(s_ub[0:n], s_ub[0:n], x_ub)
                    tl.mul(q_ub, x_ub, x_ub)
                    tl.add(ss_ub[0:n], ss_ub[0:n], q_ub)
        with tl.compute():
            mean = tl.reduce_sum(s_ub) / (D * S)
            var = tl.reduce_sum(ss_ub) / (D * S) - mean * mean
            rstd = 1.0 / tl.sqrt(var + eps)
        for d in range(D):
            with tl.copyin():
                ga = tl.load_scalar(g[h, d])
            for i, n in tl.tiles(S, TILE):
                with tl.copyin():
                    tl.load(x_ub, x[b, h, d, i:i + n])
                with tl.compute():
                    tl.subs(y_ub, x_ub, mean)
                    tl.muls(y_ub, y_ub, rstd * ga)
                with tl.copyout():
                    tl.store(y[b, h, d, i:i + n], y_ub)
