import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", ROWS: tl.const = 8, COLS: tl.const = 1024):
    tl.require(C <= COLS)
    x_ub = tl.ub((ROWS, COLS), "f32", buf=2)
    y_ub = tl.ub((ROWS, COLS), "f32", buf=2)
    s_ub = tl.ub((ROWS, 1), "f32")
    for r, n in tl.core_tiles(R, ROWS):
        with tl.copyin():
            tl.load(x_ub, x[r:r + n, 0:C])
        with tl.compute("stats"):
            tl.reduce_sum(s_ub, x_ub, axis=1)
            tl.muls(s_ub, s_ub, 1.0 / C)
            tl.sub(y_ub, x_ub, s_ub)
        with tl.copyout():
            tl.store(y[r:r + n, 0:C], y_ub)
