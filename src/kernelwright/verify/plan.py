"""Which secret workloads a verification runs, in which order, and at which size.

A large task spends its time on moving bytes, so only what depends on the size runs at full size:
the official inputs, and one other draw. Distributions (large magnitudes, ties, tiny numbers) and
layouts are judged at the edge shape. A candidate that refuses the edge shape, which it may, meets
them at full size instead.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kernelwright.core.execution import Call, Distribution, Expected, Workload
from kernelwright.core.ports import Oracle
from kernelwright.core.task import Task

SEEDS = 8
LARGE_TASK_BYTES = 4 << 20
_SEED_BITS = 53
_FULL_SIZE = 2


def fresh_seeds(source: random.Random, count: int) -> tuple[int, ...]:
    """Draw seeds that no candidate can have seen."""
    return tuple(source.getrandbits(_SEED_BITS) for _ in range(count))


def official_workload(source: random.Random) -> Workload:
    """Return the task's own inputs, drawn with a seed that no candidate can have seen."""
    return Workload(fresh_seeds(source, 1)[0])


def template(workload: Workload) -> Workload:
    """Return the workload without its seed, to tell kinds apart."""
    return replace(workload, seed=0)


def is_official(workload: Workload) -> bool:
    """Whether a workload is the task's own inputs and parameters at the task's own size."""
    return template(workload) == Workload(0)


def is_derived(workload: Workload) -> bool:
    """Whether a workload is an edge shape with more than the edge shape to it."""
    is_plain = workload.distribution in (Distribution.OFFICIAL, Distribution.SIGNED)
    return bool(workload.sizes) and not (is_plain and not workload.is_strided)


def at_full_size(workload: Workload) -> Workload:
    """Return the workload at the task's own size."""
    return replace(workload, sizes=())


def arranged(workloads: Sequence[Workload], task: Task) -> tuple[Workload, ...]:
    """Order a plan and choose sizes: official first, cheap ones next, full size after them."""
    edges = [workload for workload in workloads if workload.sizes]
    if task.input_bytes <= LARGE_TASK_BYTES or not edges:
        return tuple(sorted(workloads, key=lambda workload: bool(workload.sizes)))
    full = [workload for workload in workloads if not workload.sizes]
    small = {template(edge): edge for edge in edges}
    for workload in full[_FULL_SIZE:]:
        if not is_official(workload):
            smaller = replace(workload, sizes=edges[0].sizes)
            small.setdefault(template(smaller), smaller)
    return (*full[:1], *small.values(), *full[1:_FULL_SIZE])


def planned(
    oracle: Oracle, chosen: Sequence[Workload], source: random.Random
) -> tuple[Workload, ...]:
    """Return the workloads of one verification: the admitted plan with fresh seeds."""
    if not chosen:
        return arranged(oracle.workloads(fresh_seeds(source, SEEDS)), oracle.task)
    seeds = fresh_seeds(source, len(chosen))
    return tuple(replace(w, seed=seed) for w, seed in zip(chosen, seeds, strict=True))


@dataclass(slots=True)
class Handover:
    """The official trial of the verification that is going on, for the gate that times.

    Drawing the inputs and running the reference a second time would tell nothing new.
    """

    call: Call | None = None
    expected: Expected | None = None

    def take(self) -> tuple[Call, Expected] | None:
        """Return what was handed over, once."""
        call, expected = self.call, self.expected
        self.clear()
        return None if call is None or expected is None else (call, expected)

    def clear(self) -> None:
        """Forget it: it belongs to one verification."""
        self.call = self.expected = None
