import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", w: "f32[NC, 8] inout", y: "f32[1]", TILE: tl.const = 4096, CORES: tl.const = 64):
    tl.require(NC <= CORES)
    x_ub = tl.ub(TILE, "f32", buf=2)
    acc_ub = tl.ub(TILE, "f32")
    part_ub = tl.ub(8, "f32")
    all_ub = tl.ub((CORES, 8), "f32")
    one_ub = tl.ub(8, "f32")
    tl.require(tl.num_cores() == NC)
    with tl.compute():
        tl.fill(acc_ub, 0.0, TILE)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.add(acc_ub[0:n], acc_ub[0:n], x_ub)
    with tl.compute():
        s = tl.reduce_sum(acc_ub)
        tl.fill(part_ub, 0.0, 8)
        tl.fill(part_ub[0:1], s)
    with tl.copyout():
        tl.store(w[tl.core_id(), 0:8], part_ub)
    tl.sync_all()
    if tl.core_id() == 0:
        with tl.copyin():
            tl.load(all_ub, w[0:NC, 0:8])
        with tl.compute():
            tl.fill(one_ub, tl.reduce_sum(all_ub), 1)
        with tl.copyout():
            tl.store(y[0:1], one_ub)


@tl.host
def total(x: "f32[N]") -> "f32[1]":
    y = tl.empty("f32[1]")
    NC = tl.num_cores()
    w = tl.workspace("f32[NC, 8]")
    k[NC](x, w, y)
    return y
