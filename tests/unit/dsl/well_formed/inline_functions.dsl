import kernelwright.language as tl


LN2 = 0.6931471805599453


@tl.inline
def softplus(d, a, t):
    tl.abs(t, a)
    tl.muls(t, t, -1.0)
    tl.exp(t, t)
    tl.adds(t, t, 1.0)
    tl.ln(t, t)
    tl.maxs(d, a, 0.0)
    tl.add(d, d, t)


@tl.inline
def scaled(d, s):
    half = s * 0.5
    tl.muls(d, d, half)


@tl.kernel
def k(x: "f32[N]", y: "f32[N]", TILE: tl.const = 2048):
    """Softplus, scaled.

    Twice inlined.
    """
    x_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    t_ub = tl.ub(TILE, "f32")
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            softplus(y_ub, x_ub, t_ub)
            scaled(y_ub, 2.0 / LN2)
            scaled(d=y_ub, s=3.0)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)
