"""Pipes run side by side, wait for flags, and slow down where the chip does."""

from __future__ import annotations

from kernelwright.emulator.timing_stream import Launch, Pipe, Route, Stream

from .conftest import Simulate, inside_us

KIB = 1024


def pipeline(buffers: int, tiles: int = 32, size: int = 16 * KIB) -> Stream:
    """Copy in, multiply eight times, copy out; flags as a queue of `buffers` sets them."""
    stream = Stream()
    for tile in range(tiles):
        turn = tile % buffers
        stream.wait(Pipe.MTE2, turn).copy(Route.GM_UB, size, tile * size)
        stream.signal(Pipe.MTE2, 8 + turn).wait(Pipe.V, 8 + turn).wait(Pipe.V, 16 + turn)
        for _ in range(8):
            stream.vector("Muls", size, dst=(4 + turn) * size, src0=turn * size)
        stream.signal(Pipe.V, turn).signal(Pipe.V, 24 + turn)
        stream.wait(Pipe.MTE3, 24 + turn).copy(Route.UB_GM, size, (1 << 25) + tile * size)
        stream.signal(Pipe.MTE3, 16 + turn)
    return stream


def vectors(count: int, *, src1: int = -1, dst: int = 0x20000, **more: int) -> Stream:
    stream = Stream()
    for _ in range(count):
        stream.vector("Add" if src1 >= 0 else "Adds", 64 * 256, dst=dst, src0=0, src1=src1, **more)
    return stream


def test_two_buffers_overlap_copies_and_vectors(simulate: Simulate) -> None:
    one, two = (inside_us(simulate(pipeline(buffers))) for buffers in (1, 2))
    assert two < 0.75 * one


def test_two_buffers_take_little_more_than_the_busiest_pipe(simulate: Simulate) -> None:
    report = simulate(pipeline(2))
    busy = report["cores"][0]["busy_us"]  # type: ignore[index]
    assert max(busy.values()) <= inside_us(report) < 1.2 * max(busy.values())


def test_a_wait_holds_its_pipe_until_the_flag(simulate: Simulate) -> None:
    free = Stream().copy(Route.GM_UB, 64 * KIB).signal(Pipe.MTE2, 1)
    held = Stream().copy(Route.GM_UB, 64 * KIB).signal(Pipe.MTE2, 1).wait(Pipe.V, 1)
    for stream in (free, held):
        stream.vector("Muls", 32 * KIB, dst=0, src0=0)
    assert inside_us(simulate(held)) > inside_us(simulate(free)) + 0.05


def test_a_barrier_serialises_independent_vectors(simulate: Simulate) -> None:
    free, barred = Stream(), Stream()
    for turn in range(64):
        for stream in (free, barred):
            stream.vector("Muls", 256, dst=turn * 512, src0=0x18000)
        barred.barrier(Pipe.V)
    assert inside_us(simulate(barred)) > 1.5 * inside_us(simulate(free))


def test_a_dependent_vector_waits_for_the_result(simulate: Simulate) -> None:
    independent, chain = Stream(), Stream()
    for turn in range(64):
        independent.vector("Muls", 256, dst=turn * 512, src0=0x18000)
        chain.vector("Muls", 256, dst=0, src0=0)
    assert inside_us(simulate(chain)) > 1.5 * inside_us(simulate(independent))


def test_sources_in_one_bank_group_cost_a_further_cycle_a_repeat(simulate: Simulate) -> None:
    apart = simulate(vectors(100, src1=0x10100))
    together = simulate(vectors(100, src1=0x10000))
    assert 1.5 < inside_us(together) / inside_us(apart) < 2.0
    assert together["cores"][0]["group_conflict_cycles"] == 100 * 64  # type: ignore[index]
    assert apart["cores"][0]["group_conflict_cycles"] == 0  # type: ignore[index]


def test_one_operand_read_twice_does_not_conflict(simulate: Simulate) -> None:
    same = simulate(vectors(100, src1=0))
    apart = simulate(vectors(100, src1=0x10100))
    assert inside_us(same) == inside_us(apart)


def test_a_result_in_the_banks_of_its_source_is_slower(simulate: Simulate) -> None:
    elsewhere = inside_us(simulate(vectors(100, src1=0x10100, dst=0x20000)))
    beside = simulate(vectors(100, src1=0x10100, dst=0x8020))
    assert inside_us(beside) > 1.3 * elsewhere
    assert beside["cores"][0]["bank_conflict_cycles"] == 6400  # type: ignore[index]


def test_blocks_written_to_one_group_take_eight_cycles_a_repeat(simulate: Simulate) -> None:
    dense = inside_us(simulate(vectors(50)))
    crowded = inside_us(simulate(vectors(50, block_stride=16, repeat_stride=128)))
    assert crowded > 4 * dense


def test_exp_takes_longer_than_add(simulate: Simulate) -> None:
    def chain(operation: str) -> Stream:
        stream = Stream()
        for _ in range(20):
            stream.vector(operation, 64 * 256, dst=0x10000, src0=0)
        return stream

    assert inside_us(simulate(chain("Exp"))) > 1.4 * inside_us(simulate(chain("Adds")))


def test_a_full_queue_stops_the_scalar_unit(simulate: Simulate) -> None:
    stream = Stream()
    for _ in range(200):
        stream.vector("Muls", 64 * 256, dst=0x8000, src0=0)
    few = Stream().scalar(0)
    ahead = simulate(stream, Launch(keep_events=True))
    starts = [event[3] for event in ahead["events"]]  # type: ignore[attr-defined]
    assert len(starts) == 200
    assert starts == sorted(starts)
    assert inside_us(simulate(few)) < 0.01


def test_scalar_reads_of_global_memory_miss_once_a_line(simulate: Simulate) -> None:
    stream = Stream()
    for i in range(1600):
        stream.scalar_gm(4 * i, write=False)
    core = simulate(stream)["cores"][0]  # type: ignore[index]
    assert core["scalar_gm_accesses"] == 1600
    assert core["scalar_gm_misses"] == 100


def test_scalar_reads_are_far_slower_than_a_copy(simulate: Simulate) -> None:
    scalars = Stream()
    for i in range(4096):
        scalars.scalar_gm(4 * i, write=False)
    copy = Stream().copy(Route.GM_UB, 4 * 4096)
    assert inside_us(simulate(scalars)) > 20 * inside_us(simulate(copy))


def test_a_launch_is_simulated_alike_every_time(simulate: Simulate) -> None:
    launch = Launch(8)
    assert simulate(pipeline(2), launch) == simulate(pipeline(2), launch)
