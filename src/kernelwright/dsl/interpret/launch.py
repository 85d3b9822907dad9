"""A launch: all cores of a kernel, in one of three orders, and host functions around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from kernelwright.dsl.bind import Number, bind
from kernelwright.dsl.evaluate import LaunchRefused, evaluate
from kernelwright.dsl.host_nodes import Host, Program
from kernelwright.dsl.interpret.core import Core, Pause
from kernelwright.dsl.interpret.memory import GlobalTensor, given_tensor, new_buffer, new_tensor
from kernelwright.dsl.interpret.outcome import Counters, Fault, Outcome, Stopped
from kernelwright.dsl.launch import Device, LaunchCall, bound_launch, run_host
from kernelwright.dsl.lower.specialise import checked_kernel
from kernelwright.dsl.nodes import Kernel, Param, Store, TensorParam, statements, stored_tensors
from kernelwright.dsl.tree import subexpressions, values_of
from kernelwright.dsl.types import NOWHERE, DType, Name

Order = Literal["sequential", "random", "interleaved"]
"""sequential: core after core up to each sync; random: so, in an order drawn anew at each sync;
interleaved: after every statement a core drawn at random goes on."""


def run(
    program: Program,
    name: str,
    arguments: Sequence[Any] | Mapping[str, Any],
    *,
    schedule: Mapping[str, int] | None = None,
    cores: int = 1,
    order: Order = "sequential",
    poison: bool = True,
    rng: np.random.Generator | None = None,
) -> Outcome:
    """Run a host function or a kernel of a checked program: what it means.

    Args:
        name: The host function, or else the kernel, of that name.
        arguments: Values of its parameters: in order, or (for a kernel) by name. Tensors are NumPy
            arrays, of bf16 as `uint16` bits, of bool as bool or `uint8`. For the tensors that a
            kernel only stores, an array gives the shape.
        schedule: Values of schedule holes, or of a kernel's compile-time parameters.
        cores: Cores of the device; of the launch, where `name` is a kernel.
        poison: Poison buffers at each write, so that stale data shows.
        rng: Draws the order; a fixed one where None.

    Raises:
        LaunchRefused: where shapes disagree (E701) or a condition is false (E702).
        UsageMistake: where a schedule makes the kernel wrong.
        TypeError: where an array has another element type than its parameter.
    """
    runner = _Runner(order, poison, True, np.random.default_rng(0) if rng is None else rng)
    if any(host.name.text == name for host in program.hosts):
        host = program.host(name)
        if isinstance(arguments, Mapping):
            names = [p.name.text for p in host.params]
            arguments = [arguments[text] for text in names if text in arguments]
        return _run_host(runner, program, host, list(arguments), schedule or {}, cores=cores)
    kernel = program.kernel(name)
    if not isinstance(arguments, Mapping):
        names = [p.name.text for p in kernel.params]
        arguments = dict(zip(names, arguments, strict=False))
    return _run_kernel(runner, kernel, {**arguments, **(schedule or {})}, cores)


def run_unchecked(
    program: Program, name: str, arguments: Mapping[str, Any], *, cores: int = 1
) -> Outcome:
    """Run a kernel that no check has accepted, as far as it goes.

    Args:
        arguments: Values of the kernel's parameters by name.
    """
    runner = _Runner("sequential", True, False, np.random.default_rng(0))
    return _run_kernel(runner, program.kernel(name), arguments, cores)


@dataclass(slots=True)
class _Runner:
    """Runs launches; remembers the kernels it has checked."""

    order: Order
    poison: bool
    check: bool
    rng: np.random.Generator
    counters: Counters = field(default_factory=Counters)
    checked: dict[tuple[Name, tuple[tuple[str, Number], ...]], Kernel] = field(default_factory=dict)

    def launch(self, call: LaunchCall) -> None:
        """Run one launch to its end."""
        kernel = self._bound(call)
        tensors = {Name(text): tensor for text, tensor in call.tensors.items()}
        names: dict[Name, Any] = {Name(text): size for text, size in call.dims.items()}
        for param in kernel.scalars:
            value = call.scalars[param.name.text]
            names[param.name] = np.float32(value) if param.type is DType.F32 else int(value)
        shapes = {
            item.name: tuple(int(evaluate(size, {})) for size in item.shape)
            for item in kernel.buffers
        }
        cores = [
            Core(
                kernel,
                number,
                call.cores,
                tensors,
                {item.name: new_buffer(item.dtype, shapes[item.name]) for item in kernel.buffers},
                dict(names),
                self.counters,
                self.poison,
            )
            for number in range(call.cores)
        ]
        self._forget(tensors)
        with np.errstate(all="ignore"):
            self._drive(cores, tensors)
        self._forget(tensors)

    def _bound(self, call: LaunchCall) -> Kernel:
        key = (call.kernel.name, tuple(sorted(call.consts.items())))
        if key not in self.checked:
            kernel = call.kernel
            if self.check:
                kernel = checked_kernel(kernel, call.consts)
            self.checked[key] = bind(kernel, call.consts)
        return self.checked[key]

    def _forget(self, tensors: Mapping[Name, GlobalTensor]) -> None:
        for tensor in tensors.values():
            tensor.storage.forget_cores()

    def _drive(self, cores: list[Core], tensors: Mapping[Name, GlobalTensor]) -> None:
        running = {core.number: core.run() for core in cores}
        while running:
            waiting = self._phase(running)
            if waiting and len(waiting) < len(cores):
                core = cores[waiting[0]]
                core.fail("E504", "not every core reaches the sync", f"{len(waiting)} wait")
            self.counters.barriers += bool(waiting)
            self._forget(tensors)
            running = {number: running[number] for number in waiting}

    def _phase(self, running: Mapping[int, Iterator[Pause]]) -> list[int]:
        """Run all cores to their next sync or end; the cores that wait at a sync."""
        waiting: list[int] = []
        active = list(running)
        if self.order == "random":
            self.rng.shuffle(active)
        while active:
            place = int(self.rng.integers(len(active))) if self.order == "interleaved" else 0
            number = active[place]
            pause = next(running[number], None)
            if pause is Pause.STEP:
                continue
            active.pop(place)
            if pause is Pause.SYNC:
                waiting.append(number)
        return sorted(waiting)


def _tensors(
    params: Sequence[Param],
    given: Mapping[str, Any],
    outputs: frozenset[Name],
    written: frozenset[Name],
) -> dict[str, GlobalTensor]:
    _check_apart(params, given, written)
    return {
        item.name.text: given_tensor(
            item.type.dtype, np.asarray(given[item.name.text]), is_defined=item.name not in outputs
        )
        for item in params
        if isinstance(item, TensorParam) and item.name.text in given
    }


def _check_apart(
    params: Sequence[Param], given: Mapping[str, Any], written: frozenset[Name]
) -> None:
    """Refuse one array under two names where it is written: on a device, both are one memory."""
    tensors = [p for p in params if isinstance(p, TensorParam) and p.name.text in given]
    for place, one in enumerate(tensors):
        for other in tensors[:place]:
            arrays = np.asarray(given[one.name.text]), np.asarray(given[other.name.text])
            if {one.name, other.name} & written and np.shares_memory(*arrays):
                changed = one if one.name in written else other
                raise LaunchRefused(
                    "E507",
                    f"{other.name.text} and {one.name.text} are the same memory, and "
                    f"{changed.name.text} is written",
                    fix=f"give a copy of {other.name.text}",
                )


def _only_stored(kernel: Kernel) -> frozenset[Name]:
    """Tensors whose content before the kernel does not count."""
    read: set[Name] = {item.name for item in kernel.tensors if item.type.is_inout}
    for item in statements(kernel.body):
        if isinstance(item, Store) and item.is_atomic_add:
            read.add(item.target.tensor)
        for value in values_of(item):
            for part in subexpressions(value):
                if hasattr(part, "source") and hasattr(part.source, "tensor"):
                    read.add(part.source.tensor)
    return stored_tensors(kernel) - read


def _run_kernel(runner: _Runner, kernel: Kernel, given: Mapping[str, Any], cores: int) -> Outcome:
    shapes = _only_stored(kernel)  # of these, an array gives no more than the shape
    tensors = _tensors(kernel.params, given, shapes, stored_tensors(kernel) - shapes)
    fault = None
    call = bound_launch(kernel, cores, {**given, **tensors})
    try:
        runner.launch(call)
    except Stopped as stopped:
        fault = stopped.fault
    after = {name: tensor.array() for name, tensor in tensors.items()}
    stored = [item.name for item in kernel.tensors if item.name in stored_tensors(kernel)]
    outputs = tuple(after[name.text] for name in stored) if fault is None else ()
    return Outcome(outputs, after, runner.counters, fault)


def _run_host(
    runner: _Runner,
    program: Program,
    host: Host,
    values: list[Any],
    schedule: Mapping[str, int],
    *,
    cores: int,
) -> Outcome:
    names = [param.name.text for param in host.params]
    written = {p.name for p in host.params if isinstance(p, TensorParam) and p.type.is_inout}
    given = dict(zip(names, values, strict=False))
    tensors = _tensors(host.params, given, frozenset(), frozenset(written))
    arguments = [tensors.get(name, value) for name, value in zip(names, values, strict=False)]
    result: tuple[Any, ...] = ()
    fault = None
    try:
        result = run_host(
            program,
            host.name.text,
            arguments,
            launch=runner.launch,
            allocate=lambda dtype, shape, is_zero: new_tensor(dtype, shape, is_zero=is_zero),
            device=Device(cores=cores),
            schedule=schedule,
        )
        fault = _lost(host, result)
    except Stopped as stopped:
        fault = stopped.fault
    outputs = tuple(item.array() for item in result) if fault is None else ()
    after = {name: tensor.array() for name, tensor in tensors.items()}
    return Outcome(outputs, after, runner.counters, fault)


def _lost(host: Host, result: Sequence[GlobalTensor]) -> Fault | None:
    """A fault where a returned tensor was not written everywhere."""
    for number, tensor in enumerate(result):
        count = int(tensor.storage.undefined.sum())
        if count:
            what = f"output {number} of {host.name.text} is not written everywhere"
            total = tensor.storage.data.size
            at = replace(NOWHERE, line=host.at.line)
            return Fault("E801", host.name.text, 0, at, what, f"{count} of {total} elements")
    return None
