"""Refuse a figure that no kernel on this machine can reach, and only such a figure.

A call must read every input that its output depends on and write every output. At the copy
bandwidth that the backend measured (same working set, same state of the caches) this takes a time
that a kernel can beat only so far:

* A plain copy also reads the lines that it is about to overwrite: it moves 3 bytes for every 2
  that are counted. A kernel that writes around the cache does not: factor 1.5.
* Reading is cheaper than writing: a kernel that only reads (a sum) beats a copy by up to a third
  more. So the factor grows from 1.5 for as many bytes written as read to 2.0 for none written.
* The ceiling may have been measured at a bad moment; the A/A noise of this session is added, and
  where the baseline itself beats the ceiling, the baseline's bandwidth is the ceiling.

Before a figure is refused, the bytes are counted again: only the share of every input on which
the reference's output really depends counts (a lookup reads little of its table).
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernelwright.core.execution import Call, Failure, Returned
from kernelwright.core.ports import Module
from kernelwright.core.tensor import Tensor, Tree, leaves
from kernelwright.verify.arrays import EXACT_DTYPES, narrowed, stored, widened

LINE_BYTES = 64
_PROBES = 8
_READ_BONUS = 0.5


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that one call must move.

    Attributes:
        read_bytes: Inputs, parameters and buffers.
        written_bytes: Outputs.
    """

    read_bytes: int
    written_bytes: int

    @property
    def total_bytes(self) -> int:
        """Read and written together."""
        return self.read_bytes + self.written_bytes

    def factor(self, base: float) -> float:
        """Return by how much a kernel with this traffic may beat a copy."""
        share = self.read_bytes / max(self.total_bytes, 1)
        return base + _READ_BONUS * max(2 * share - 1, 0.0)


@dataclass(frozen=True, slots=True)
class Floor:
    """The least time that is believed.

    Attributes:
        least_us: Microseconds of one call.
        ceiling_gbps: Copy bandwidth it follows from.
    """

    least_us: float
    ceiling_gbps: float


def floor_for(
    traffic: Traffic, *, ceiling_gbps: float, margin: float, noise: float, baseline_us: float
) -> Floor:
    """Return the least believable time for a traffic.

    Args:
        traffic: Bytes that a call must move.
        ceiling_gbps: Measured copy bandwidth, bytes read plus written, in 1e9 bytes a second.
        margin: Factor by which any kernel may beat a copy.
        noise: A/A noise of the session, relative.
        baseline_us: Time of the baseline in the same session.
    """
    shown_gbps = traffic.total_bytes / max(baseline_us, 1e-3) / 1e3
    ceiling = max(ceiling_gbps, shown_gbps)
    fastest_gbps = ceiling * traffic.factor(margin) * (1.0 + noise)
    return Floor(traffic.total_bytes / (fastest_gbps * 1e3), ceiling)


def traffic_of(call: Call, outputs: Tree) -> Traffic:
    """Return the traffic of a call that reads everything it is given once."""
    read = sum(t.size_bytes for t in (*_tensors(call.args), *call.state.values()))
    return Traffic(read, sum(t.size_bytes for t in _tensors(outputs)))


def counted_traffic(call: Call, outputs: Tree, baseline: Module, source: random.Random) -> Traffic:
    """Return the traffic with only those input bytes counted on which the output depends.

    Single cache lines of every operand are changed, up and then down (a maximum only sees one of
    them), and the reference runs again; the share of lines that change its output, less one
    standard deviation of the small sample, is the share of the operand that counts.
    """
    reference = _ran(baseline, call)
    read = 0.0
    for place, tensor in _operands(call):
        if not tensor.size_bytes:
            continue
        hits = 0
        for _ in range(_PROBES):
            at = source.getrandbits(32)
            others = (_changed(tensor, at, is_up=is_up) for is_up in (True, False))
            hits += any(
                not _is_same(_ran(baseline, _replaced(call, place, other)), reference)
                for other in others
            )
        share = hits / _PROBES
        read += tensor.size_bytes * (share - math.sqrt(share * (1.0 - share) / _PROBES))
    return Traffic(int(read), sum(t.size_bytes for t in _tensors(outputs)))


def _operands(call: Call) -> Iterator[tuple[tuple[str, int | str], Tensor]]:
    for index, arg in enumerate(call.args):
        # Tensors inside containers are counted in full by nobody: they are few and small.
        if isinstance(arg, Tensor):
            yield ("arg", index), arg
    for name, tensor in call.state.items():
        yield ("state", name), tensor


def _replaced(call: Call, place: tuple[str, int | str], tensor: Tensor) -> Call:
    kind, key = place
    if kind == "arg":
        args: Sequence[Tree] = [
            tensor if index == key else arg for index, arg in enumerate(call.args)
        ]
        return dataclasses.replace(call, args=tuple(args))
    state: Mapping[str, Tensor] = {**call.state, str(key): tensor}
    return dataclasses.replace(call, state=state)


def _changed(tensor: Tensor, at: int, *, is_up: bool) -> Tensor:
    """Return the tensor with one cache line changed; `at` chooses the line."""
    numbers = stored(tensor).copy()
    per_line = max(LINE_BYTES // numbers.itemsize, 1)
    start = at % (-(-numbers.size // per_line)) * per_line
    line = slice(start, start + per_line)
    if tensor.dtype in EXACT_DTYPES:
        # The least or the greatest value that occurs keeps indices and classes legal.
        numbers[line] = numbers.max() if is_up else numbers.min()
    else:
        values = widened(numbers[line], tensor.dtype)
        step = 1.0 + np.abs(values[np.isfinite(values)]).max(initial=0.0)
        numbers[line] = narrowed(values + (step if is_up else -step), tensor.dtype)
    return dataclasses.replace(tensor, data=numbers.tobytes())


def _ran(baseline: Module, call: Call) -> Tree | Failure:
    constructed = baseline.construct(call)
    if isinstance(constructed, Failure):
        return constructed
    returned = baseline.run(call.args)
    return returned.outputs if isinstance(returned, Returned) else returned


def _is_same(one: Tree | Failure, other: Tree | Failure) -> bool:
    if isinstance(one, Failure) or isinstance(other, Failure):
        # An input that the reference refuses to take has been read.
        return False
    mine, theirs = _tensors(one), _tensors(other)
    return len(mine) == len(theirs) and all(
        bytes(a.data) == bytes(b.data) for a, b in zip(mine, theirs, strict=True)
    )


def _tensors(tree: Tree) -> list[Tensor]:
    return [leaf for _, leaf in leaves(tree) if isinstance(leaf, Tensor)]
