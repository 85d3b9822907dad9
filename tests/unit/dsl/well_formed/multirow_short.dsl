import kernelwright.language as tl


@tl.kernel
def k(x: "f32[A, R, B]", y: "f32[A, R, B]", ROWS: tl.const = 16, COLS: tl.const = 256):
    tl.require(B <= COLS)
    x_ub = tl.ub((ROWS, COLS), "f32", buf=2)
    y_ub = tl.ub((ROWS, COLS), "f32", buf=2)
    for t in tl.core_range(A * tl.cdiv(R, ROWS)):
        a = t // tl.cdiv(R, ROWS)
        r = (t - a * tl.cdiv(R, ROWS)) * ROWS
        n = tl.min(R - r, ROWS)
        with tl.copyin():
            tl.load(x_ub, x[a, r:r + n, 0:B])
        with tl.compute():
            tl.sigmoid(y_ub, x_ub)
        with tl.copyout():
            tl.store(y[a, r:r + n, 0:B], y_ub)
