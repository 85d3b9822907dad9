import kernelwright.language as tl


@tl.kernel
def k(x: "f32[N]", w: "f32[NC, 8] inout", y: "f32[N]", TILE: tl.const = 4096, CORES: tl.const = 64):
    tl.require(NC <= CORES)
    tl.require(tl.num_cores() == NC)
    x_ub = tl.ub(TILE, "f32", buf=2)
    q_ub = tl.ub(TILE, "f32")
    acc_ub = tl.ub(TILE, "f32")
    part_ub = tl.ub(8, "f32")
    all_ub = tl.ub((CORES, 8), "f32")
    z_ub = tl.ub(TILE, "f32", buf=2)
    y_ub = tl.ub(TILE, "f32", buf=2)
    with tl.compute():
        tl.fill(acc_ub, 0.0, TILE)
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(x_ub, x[i:i + n])
        with tl.compute():
            tl.mul(q_ub, x_ub, x_ub)
            tl.add(acc_ub[0:n], acc_ub[0:n], q_ub)
    with tl.compute():
        tl.fill(part_ub, 0.0, 8)
        tl.fill(part_ub[0:1], tl.reduce_sum(acc_ub))
    with tl.copyout():
        tl.store(w[tl.core_id(), 0:8], part_ub)
    tl.sync_all()
    with tl.copyin():
        tl.load(all_ub, w[0:NC, 0:8])
    with tl.compute():
        norm = tl.sqrt(tl.reduce_sum(all_ub))
    for i, n in tl.core_tiles(N, TILE):
        with tl.copyin():
            tl.load(z_ub, x[i:i + n])
        with tl.compute():
            tl.divs(y_ub, z_ub, norm)
        with tl.copyout():
            tl.store(y[i:i + n], y_ub)
