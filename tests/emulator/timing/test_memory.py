"""Copies pay for their size, their place, and for the cores that copy at the same time."""

from __future__ import annotations

import pytest

from kernelwright.emulator.timing_stream import Launch, Pipe, Route, Stream

from .conftest import Simulate, inside_us

KIB, MIB = 1024, 1 << 20


def reads(total: int, each: int, *, offset: int = 0, bypass: bool = False) -> Stream:
    stream = Stream()
    for copy in range(total // each):
        stream.copy(Route.GM_UB, each, offset + copy * each, bypass_l2=bypass)
    return stream


def test_small_copies_cost_more_for_the_same_bytes(simulate: Simulate) -> None:
    launch = Launch(48)
    sizes = (128, 1024, 8192, 32768)
    times = [inside_us(simulate(reads(MIB, size), launch)) for size in sizes]
    assert times == sorted(times, reverse=True)
    assert times[0] > 2 * times[-1]


def test_an_unaligned_copy_is_slower(simulate: Simulate) -> None:
    launch = Launch(48)
    aligned = inside_us(simulate(reads(MIB, 32768), launch))
    unaligned = inside_us(simulate(reads(MIB, 32768, offset=32), launch))
    assert 1.1 < unaligned / aligned < 1.5


def test_cores_share_the_bandwidth(simulate: Simulate) -> None:
    stream = reads(4 * MIB, 32768)
    times = {cores: inside_us(simulate(stream, Launch(cores))) for cores in (1, 8, 24, 48)}
    per_second = {cores: cores * 4 * MIB / time / 1e3 for cores, time in times.items()}
    assert times[1] <= times[8] <= times[24] <= times[48]
    assert per_second[1] < per_second[8] < per_second[24] <= 1.05 * per_second[48]
    assert per_second[48] == pytest.approx(1524, rel=0.1)


def test_reads_and_writes_share_the_memory(simulate: Simulate) -> None:
    total = 16 * MIB
    only_reads = reads(total, 32768)
    both = Stream()
    for copy in range(total // 32768):
        both.copy(Route.GM_UB, 32768, copy * 32768)
        both.copy(Route.UB_GM, 32768, (1 << 25) + copy * 32768)
    launch = Launch(48, working_set_bytes=4 << 30)
    assert inside_us(simulate(both, launch)) > 1.6 * inside_us(simulate(only_reads, launch))


def test_small_results_stay_in_l2_and_large_ones_do_not(simulate: Simulate) -> None:
    stream = Stream()
    for copy in range(64):
        stream.copy(Route.UB_GM, 32768, copy * 32768)
    small = inside_us(simulate(stream, Launch(48, working_set_bytes=100 * MIB)))
    large = inside_us(simulate(stream, Launch(48, working_set_bytes=4 << 30)))
    assert large > 2 * small


def test_what_was_just_read_comes_from_l2(simulate: Simulate) -> None:
    once = reads(MIB, 32768)
    twice = Stream(once.records + once.records)
    launch = Launch(48)
    assert inside_us(simulate(twice, launch)) < 1.5 * inside_us(simulate(once, launch))


def test_what_does_not_fit_l2_is_read_from_memory_again(simulate: Simulate) -> None:
    once = reads(8 * MIB, 65536)
    twice = Stream(once.records + once.records)
    launch = Launch(48)
    ratio = inside_us(simulate(twice, launch)) / inside_us(simulate(once, launch))
    assert ratio == pytest.approx(2, rel=0.05)


def test_a_warm_launch_reads_from_l2(simulate: Simulate) -> None:
    stream = reads(MIB, 32768)
    cold = simulate(stream, Launch(48, working_set_bytes=48 * MIB))
    warm = simulate(stream, Launch(48, working_set_bytes=48 * MIB, warm_l2=True))
    assert inside_us(warm) < 0.6 * inside_us(cold)
    assert warm["cores"][0]["l2_miss_bytes"] == 0  # type: ignore[index]


def test_cores_that_read_one_place_at_once_are_slower_than_cores_apart(
    simulate: Simulate,
) -> None:
    stream = reads(4 * MIB, 32768)
    launch = Launch(48, working_set_bytes=48 * 4 * MIB, warm_l2=True)
    together = inside_us(simulate(stream, launch, apart=0))
    apart = inside_us(simulate(stream, launch, apart=4 * MIB))
    assert together > 1.2 * apart


def test_more_blocks_than_cores_run_in_waves(simulate: Simulate) -> None:
    stream = Stream()
    for _ in range(500):
        stream.vector("Muls", 64 * 256, dst=0, src0=0)
    one, two = (inside_us(simulate(stream, Launch(blocks))) for blocks in (48, 64))
    assert two == pytest.approx(2 * one, rel=0.02)


def test_launching_more_blocks_takes_longer(simulate: Simulate) -> None:
    nothing = Stream()
    assert simulate(nothing, Launch(48))["launch_us"] > simulate(nothing)["launch_us"]  # type: ignore[operator]


def test_sync_all_makes_everyone_wait_for_the_last(simulate: Simulate) -> None:
    stream = Stream().copy(Route.GM_UB, 32768).signal(Pipe.MTE2, 1).wait(Pipe.V, 1)
    stream.vector("Muls", 32768, dst=0, src0=0)
    apart = simulate(stream, Launch(48))
    met = simulate(stream, Launch(48, sync_all=True))
    sync_us = (2000 + 10 * 48) / 1800  # the chip's figures
    assert inside_us(apart) + sync_us < inside_us(met) < 2 * inside_us(apart) + sync_us
    ends = {core["end_us"] for core in met["cores"]}  # type: ignore[attr-defined]
    assert max(ends) - min(ends) < 0.5


def test_a_matmul_step_is_bound_by_the_cube_when_operands_are_in_l1(simulate: Simulate) -> None:
    stream = Stream()
    for turn in range(64):
        slot = turn % 2
        stream.wait(Pipe.MTE1, slot).copy(Route.L1_L0A, 16384).copy(Route.L1_L0B, 32768)
        stream.signal(Pipe.MTE1, 8 + slot).wait(Pipe.M, 8 + slot)
        stream.cube(128, 64, 256).signal(Pipe.M, slot)
    core = simulate(stream, Launch(24, cube=True))["cores"][0]  # type: ignore[index]
    assert core["kind"] == "aic"
    assert core["busy_us"]["M"] == pytest.approx(64 * 128 * 64 * 256 / 4096 / 1800, rel=0.01)
    assert core["busy_us"]["M"] > 0.85 * core["end_us"]
