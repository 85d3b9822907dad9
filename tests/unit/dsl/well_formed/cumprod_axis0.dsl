import kernelwright.language as tl


@tl.kernel
def k(x: "f32[R, C]", y: "f32[R, C]", ROWS: tl.const = 16, TILE: tl.const = 256):
    x_ub = tl.ub((ROWS, TILE), "f32", buf=2)
    y_ub = tl.ub((ROWS, TILE), "f32", buf=2)
    c_ub = tl.ub((1, TILE), "f32")
    for j, n in tl.core_tiles(C, TILE):
        with tl.compute():
            tl.fill(c_ub, 1.0, 1, n)
        for r, m in tl.tiles(R, ROWS):
            with tl.copyin():
                tl.load(x_ub, x[r:r + m, j:j + n])
            with tl.compute():
                tl.cumprod(y_ub, x_ub, c_ub, axis=0)
            with tl.copyout():
                tl.store(y[r:r + m, j:j + n], y_ub)
