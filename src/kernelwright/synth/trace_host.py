"""Runs in a sandboxed child: traces `Model.forward` of a task into a small JSON graph.

Tensors live on the meta device with symbolic sizes, so a trace costs the same for any size and a
size that the reference computes with (`x.shape[0]`) stays a size instead of becoming a number.
"""

from __future__ import annotations

import inspect
import math
import operator
import re
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental import _config as symbolic_config
from torch.fx.experimental.proxy_tensor import make_fx

from kernelwright.core.fingerprint import Json
from kernelwright.sandbox.channel import Channel


class Untraceable(Exception):
    """The reference cannot be traced; the message is one line for people."""


def serve(channel: Channel) -> None:
    """Answer one request `{"source": text, "name": text}` with `{"graph": ...}` or a complaint."""
    header, _ = channel.receive()
    try:
        reply: dict[str, Json] = {"graph": traced(str(header["source"]), str(header["name"]))}
    except Untraceable as fault:
        reply = {"untraceable": str(fault)}
    channel.send(reply)


def traced(source: str, name: str) -> dict[str, Json]:
    """Return the graph of a task's reference as JSON.

    Raises:
        Untraceable: if the task's code raises, or its trace depends on the values of its inputs.
    """
    try:
        namespace: dict[str, Any] = {"__name__": name}
        exec(compile(source, f"{name}.py", "exec"), namespace)  # noqa: S102 - a task is code
        with FakeTensorMode():
            model = namespace["Model"](*namespace["get_init_inputs"]())
            inputs = list(namespace["get_inputs"]())
        return _Trace(model.train(), inputs).graph()
    except Untraceable:
        raise
    except BaseException as fault:  # noqa: BLE001 - whatever a task raises is its own fault
        last = traceback.extract_tb(fault.__traceback__)[-1]
        line = " ".join(str(fault).split())[:300]
        raise Untraceable(f"{type(fault).__name__}: {line} (in {last.name})") from fault


class _Trace:
    """One trace: placeholders for state and arguments, then the nodes that they reach."""

    def __init__(self, model: torch.nn.Module, inputs: list[Any]) -> None:
        self.model = model
        self.inputs = inputs
        parameters = {name for name, _ in model.named_parameters()}
        self.state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
        self.roles = {n: "parameter" if n in parameters else "buffer" for n in self.state}

    def graph(self) -> dict[str, Json]:
        """Trace and describe; a float argument becomes a 0-d tensor where the reference lets it."""
        floats = [i for i, value in enumerate(self.inputs) if type(value) is float]
        if floats:
            try:
                return self._graph(frozenset(floats))
            except (RuntimeError, TypeError, NotImplementedError):
                pass  # the reference needs the number itself: it is baked in, and checked
        return self._graph(frozenset())

    def _graph(self, symbolic: frozenset[int]) -> dict[str, Json]:
        names = list(self.state)
        state = [_meta(self.state[name]) for name in names]
        tensors: list[torch.Tensor] = []
        places: dict[int, int] = {}
        for index, value in enumerate(self.inputs):
            if isinstance(value, torch.Tensor):
                places[index] = len(tensors)
                tensors.append(_meta(value))
            elif index in symbolic:
                places[index] = len(tensors)
                tensors.append(torch.empty((), dtype=torch.float64, device="meta"))

        returned: list[Any] = []

        def forward(state: list[torch.Tensor], given: list[torch.Tensor]) -> list[torch.Tensor]:
            args = [
                given[places[i]] if i in places else value for i, value in enumerate(self.inputs)
            ]
            result = torch.func.functional_call(
                self.model, dict(zip(names, state, strict=True)), tuple(args)
            )
            flat: list[torch.Tensor] = []
            returned[:] = [_structure(result, flat)]
            return flat

        with symbolic_config.patch(use_duck_shape=False), torch.no_grad():  # type: ignore[attr-defined]
            module = make_fx(forward, tracing_mode="symbolic", _allow_non_fake_inputs=True)(
                state, tensors
            )
        placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
        taken: set[str] = set()
        arguments = _argument_names(self.model)
        for node, label in zip(
            placeholders, [*names, *(arguments[i] for i in places)], strict=True
        ):
            node._rename(_free(label, taken))
        described: list[Json] = []
        for node, name in zip(placeholders, names, strict=False):
            described.append(_placeholder(node, self.roles[name], name, self.state[name]))
        for node, index in zip(placeholders[len(names) :], places, strict=True):
            value = self.inputs[index]
            role = "input" if isinstance(value, torch.Tensor) else "scalar"
            described.append(_placeholder(node, role, index, value))
        baked: list[Json] = [
            {"index": i, "value": _argument(v)}
            for i, v in enumerate(self.inputs)
            if i not in places
        ]
        return {
            "placeholders": described,
            "baked": baked,
            "arguments": len(self.inputs),
            "nodes": [_node(n, module) for n in module.graph.nodes if n.op in _CALLS],
            "output": _named(returned[0], _results(module)),
        }


_CALLS = frozenset({"call_function", "get_attr"})
_SIZE_OPS = {
    operator.mul: "size.mul",
    operator.add: "size.add",
    operator.sub: "size.sub",
    operator.floordiv: "size.floordiv",
    operator.truediv: "size.truediv",
    operator.pow: "size.pow",
    operator.neg: "size.neg",
    operator.getitem: "getitem",
    torch.sym_float: "size.float",
}


def _argument_names(model: torch.nn.Module) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = inspect.signature(model.forward).parameters.values()
    names = [parameter.name for parameter in found if parameter.kind in kinds]
    return names + [f"argument{place}" for place in range(len(names), 64)]


def _free(label: str, taken: set[str]) -> str:
    """Return a name for a placeholder that no printed code uses for anything else."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", label).strip("_") or "value"
    stem = f"{'p' if stem[0].isdigit() else ''}{stem}_in"
    name, count = stem, 1
    while name in taken:
        count += 1
        name = f"{stem}{count}"
    taken.add(name)
    return name


def _meta(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tuple(tensor.shape), dtype=tensor.dtype, device="meta")


def _placeholder(node: torch.fx.Node, role: str, key: str | int, value: Any) -> Json:
    is_tensor = isinstance(value, torch.Tensor)
    return {
        "name": node.name,
        "role": role,
        "key": key,
        "dtype": _dtype(value.dtype) if is_tensor else "float64",
        "shape": [int(extent) for extent in value.shape] if is_tensor else [],
    }


def _node(node: torch.fx.Node, module: torch.nn.Module) -> Json:
    meta = node.meta.get("val")
    if node.op == "get_attr":
        return _constant(node, module)
    entry: dict[str, Json] = {
        "name": node.name,
        "op": _operator(node.target),
        "args": [_argument(argument) for argument in node.args],
        "kwargs": {key: _argument(value) for key, value in node.kwargs.items()},
        **_described(meta),
    }
    if isinstance(meta, (tuple, list)):
        entry["parts"] = [_described(part) for part in meta]
    return entry


def _operator(target: Any) -> str:
    if target in _SIZE_OPS:
        return _SIZE_OPS[target]
    return str(target) if isinstance(target, torch._ops.OpOverload) else f"python.{target.__name__}"


def _constant(node: torch.fx.Node, module: torch.nn.Module) -> Json:
    value = getattr(module, str(node.target))
    if not isinstance(value, torch.Tensor) or value.numel() != 1 or value.is_meta:
        raise Untraceable(f"the reference holds a constant tensor that is no scalar: {node.target}")
    number = value.reshape(()).item()
    return {"name": node.name, "op": "constant", "args": [_argument(number)], "kwargs": {},
            **_described(value)}  # fmt: skip


def _described(value: Any) -> dict[str, Json]:
    if isinstance(value, torch.Tensor):
        shape = [_extent(extent) for extent in value.shape]
        return {"shape": shape, "dtype": _dtype(value.dtype)}
    if isinstance(value, (torch.SymInt, torch.SymFloat)):
        return {"shape": None, "dtype": "size", "value": _extent(value)}
    return {"shape": None, "dtype": "none"}


def _extent(value: Any) -> int | float:
    if isinstance(value, (torch.SymInt, torch.SymFloat)):
        hint = value.node.hint
        if hint is None:
            raise Untraceable("a size depends on the values of the inputs")
        return float(hint) if isinstance(value, torch.SymFloat) else int(hint)
    return int(value)


def _dtype(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _argument(value: Any) -> Json:
    if isinstance(value, torch.fx.Node):
        return {"ref": value.name}
    if isinstance(value, torch.dtype):
        return {"dtype": _dtype(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {"other": "dict"}
    if isinstance(value, Sequence):
        return [_argument(item) for item in value]
    return {"other": str(value)}


def _structure(value: Any, flat: list[torch.Tensor]) -> dict[str, Any]:
    """Return how tensors are nested in what `forward` returned, and gather them."""
    if isinstance(value, torch.Tensor):
        flat.append(value)
        return {"place": len(flat) - 1}
    if isinstance(value, Mapping):
        items = [_structure(item, flat) for item in value.values()]
        return {"kind": "dict", "keys": [str(key) for key in value], "items": items}
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {"kind": kind, "items": [_structure(item, flat) for item in value]}
    raise Untraceable(f"the reference returns a {type(value).__name__}")


def _results(module: torch.fx.GraphModule) -> list[str]:
    output = next(node for node in module.graph.nodes if node.op == "output")
    return [node.name for node in output.args[0]]


def _named(structure: dict[str, Any], results: list[str]) -> Json:
    if "place" in structure:
        return {"ref": results[structure["place"]]}
    return {**structure, "items": [_named(item, results) for item in structure["items"]]}
