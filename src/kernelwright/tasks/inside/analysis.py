"""What a task takes, owns, returns and costs, found on the meta device: no element is computed.

Where the task looks at values (`.item()` in a constructor), the step that does so runs for real,
inside the limits of this process, and `ways` says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch

from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import leaves
from kernelwright.core.verdict import Category
from kernelwright.sandbox.module_fault import ModuleFault
from kernelwright.sandbox.torch_tree import NAMES, tensors_in
from kernelwright.tasks.inside.census import Census
from kernelwright.tasks.inside.compare import is_same
from kernelwright.tasks.inside.recurrent import RecurrentShortcut
from kernelwright.tasks.inside.reference import Reference

T = TypeVar("T")
META, REAL = "meta", "real"
_SEEDS = (0, 1)
_TRIAL_BYTES = 16 << 20
_TRIAL_FLOPS = 1 << 29


@dataclass(slots=True)
class Analyst:
    """Analyses one text of a task.

    Attributes:
        reference: Whose file it is.
        namespace: The imported text.
        room_bytes: What a step that runs for real may allocate.
        ways: Step to `meta` or `real`; steps that are not there are tried on meta first.
    """

    reference: Reference
    namespace: Mapping[str, Any]
    room_bytes: int
    ways: dict[str, str] = field(default_factory=dict)
    _init: tuple[Any, ...] = ()

    def analysis(self) -> dict[str, Json]:
        """Return operands, bytes, operations, mode and randomness as JSON.

        Raises:
            ModuleFault: if the task's own code fails, or a step must run for real and has no room.
        """
        module = self._step("construct", self._module_on_meta, self._module_for_real)
        inputs = self._step("inputs", self._inputs_on_meta, self._inputs_for_real)
        held = [*tensors_in(list(inputs)), *module.parameters(), *module.buffers()]
        sizes = {
            "input_bytes": bytes_of(tensors_in(list(inputs))),
            "parameter_bytes": bytes_of([*module.parameters(), *module.buffers()]),
        }
        if sum(sizes.values()) > self.room_bytes and self.ways.get("forward") == REAL:
            raise _no_room(sum(sizes.values()))
        result, census = self._step(
            "forward",
            lambda: self._counted(module, inputs, held),
            lambda: self._counted_for_real(sum(sizes.values())),
        )
        return {
            **sizes,
            "operands": list(_operands(self.namespace, self._init, inputs, module, result)),
            "activation_bytes": census.peak_bytes,
            "output_bytes": bytes_of(tensors_in(result)),
            "flops": census.flops,
            "reduction_length": census.reduction_length,
            "is_random": census.is_random,
            "is_training": bool(module.training),
            "ways": dict(self.ways),
        }

    def is_random_on_trial(self) -> bool:
        """Run the task twice on equal inputs with different generators; say whether they differ.

        Raises:
            ModuleFault: if the task fails.
        """
        results = []
        for seed in _SEEDS:
            init = self.reference.init_of(self.namespace, 0)
            module = self.reference.module_of(self.namespace, init, 0)
            args = self.reference.inputs_of(self.namespace, 0)
            results.append(self.reference.result_of(module, args, seed))
        return not is_same(results[0], results[1])

    def _step(self, name: str, on_meta: Callable[[], T], for_real: Callable[[], T]) -> T:
        if self.ways.get(name, META) == META:
            try:
                found = on_meta()
            except ModuleFault:
                if name in self.ways:
                    raise
            else:
                self.ways[name] = META
                return found
        self.ways[name] = REAL
        return for_real()

    def _module_on_meta(self) -> torch.nn.Module:
        with torch.device(META):
            self._init = self.reference.init_of(self.namespace, 0)
            return self.reference.module_of(self.namespace, self._init, 0)

    def _module_for_real(self) -> torch.nn.Module:
        self._init = self.reference.init_of(self.namespace, 0)
        return self.reference.module_of(self.namespace, self._init, 0).to(META)

    def _inputs_on_meta(self) -> tuple[Any, ...]:
        with torch.device(META):
            return self.reference.inputs_of(self.namespace, 0)

    def _inputs_for_real(self) -> tuple[Any, ...]:
        return tuple(_on_meta(value) for value in self.reference.inputs_of(self.namespace, 0))

    def _counted(
        self, module: torch.nn.Module, inputs: tuple[Any, ...], held: list[torch.Tensor]
    ) -> tuple[Any, Census]:
        census = Census(held)
        with torch.device(META), RecurrentShortcut(census), census:
            result = self.reference.result_of(module, inputs, 0)
        return result, census

    def _counted_for_real(self, size_bytes: int) -> tuple[Any, Census]:
        if size_bytes > self.room_bytes:
            raise _no_room(size_bytes)
        init = self.reference.init_of(self.namespace, 0)
        module = self.reference.module_of(self.namespace, init, 0)
        inputs = self.reference.inputs_of(self.namespace, 0)
        census = Census([*tensors_in(list(inputs)), *module.parameters(), *module.buffers()])
        with census:
            result = self.reference.result_of(module, inputs, 0)
        return result, census


def is_small(found: Mapping[str, Any]) -> bool:
    """Return whether running the task twice costs next to nothing."""
    size_bytes = found["input_bytes"] + found["parameter_bytes"] + found["activation_bytes"]
    return bool(size_bytes <= _TRIAL_BYTES and found["flops"] <= _TRIAL_FLOPS)


def bytes_of(tensors: Any) -> int:
    """Return the bytes of all elements of some tensors."""
    return sum(int(tensor.numel()) * int(tensor.element_size()) for tensor in tensors)


def _operands(
    namespace: Mapping[str, Any],
    init: tuple[Any, ...],
    inputs: tuple[Any, ...],
    module: torch.nn.Module,
    result: Any,
) -> Iterator[dict[str, Json]]:
    model = namespace["Model"]
    for name, value in zip(_names(model.__init__, "init", len(init)), init, strict=True):
        yield from _specs(name, "init", value)
    for name, value in zip(_names(model.forward, "input", len(inputs)), inputs, strict=True):
        yield from _specs(name, "input", value)
    for name, parameter in module.named_parameters():
        yield from _specs(name, "parameter", parameter)
    for name, buffer in module.named_buffers():
        yield from _specs(name, "buffer", buffer)
    yield from _specs("output", "output", result)


def _names(function: Any, kind: str, count: int) -> list[str]:
    parameters = [
        parameter.name
        for parameter in list(inspect.signature(function).parameters.values())[1:]
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    return [parameters[i] if i < len(parameters) else f"{kind}[{i}]" for i in range(count)]


def _specs(name: str, role: str, value: Any) -> Iterator[dict[str, Json]]:
    for place, leaf in leaves(value, name):
        if isinstance(leaf, torch.Tensor):
            yield {
                "name": place,
                "role": role,
                "type": "tensor",
                "dtype": NAMES.get(leaf.dtype, str(leaf.dtype).removeprefix("torch.")),
                "shape": [int(extent) for extent in leaf.shape],
                "is_contiguous": bool(leaf.is_contiguous()),
            }
        else:
            text = repr(leaf) if isinstance(leaf, (bool, int, float, str, type(None))) else None
            yield {"name": place, "role": role, "type": type(leaf).__name__, "value": text}


def _on_meta(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(META)
    if isinstance(value, (tuple, list)):
        return type(value)(_on_meta(item) for item in value)
    if isinstance(value, dict):
        return {key: _on_meta(item) for key, item in value.items()}
    return value


def _no_room(size_bytes: int) -> ModuleFault:
    return ModuleFault(
        Category.MEMORY,
        f"inputs and parameters take {size_bytes} bytes, and its operators can only be counted by"
        " running them",
    )
