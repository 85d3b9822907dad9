import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", ROWS: tl.const = 4, COLS: tl.const = 512):
    tl.require(C <= COLS)
    x_ub = tl.ub((ROWS, COLS), "f32", buf=2)
    y_ub = tl.ub((ROWS, COLS), "f32", buf=2)
    m_ub = tl.ub(COLS, "f32")
    for r, n in tl.core_tiles(R, ROWS):
        with tl.copyin():
            tl.load(x_ub, x[r:r + n, 0:C])
        with tl.compute():
            tl.copy(y_ub, x_ub)
            tl.copy(m_ub, x_ub[0, :])
            if_rows = n
        for i in range(n):
            with tl.compute():
                tl.max(m_ub, m_ub, x_ub[i, :])
        for i in range(n):
            with tl.compute():
                tl.sub(y_ub[i, :], x_ub[i, :], m_ub)
        with tl.copyout():
            tl.store(y[r:r + n, 0:C], y_ub)
