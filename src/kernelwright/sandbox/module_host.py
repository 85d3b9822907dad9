"""The child's side of a module: loads a file's class, fills it, calls it, answers with raw bytes.

It runs in the same process as untrusted code, so nothing it says is a verdict: the trusted side
compares the bytes and keeps the clock. What it uses of torch and of Python is looked up before the
module is imported. Requests have a JSON header with `op` (see `HANDLERS` of `ModuleHost`); the
answer is `{"ok": true, ...}`, or `{"failure": {"category", "reason"}}` when the module is at fault.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import torch

from kernelwright.core.execution import Poison
from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer, decoded, encoded
from kernelwright.core.verdict import Category
from kernelwright.sandbox.channel import Channel
from kernelwright.sandbox.module_args import is_refilled, mutated_in
from kernelwright.sandbox.module_fault import ModuleFault, blamed_on_the_module
from kernelwright.sandbox.module_result import EarlierResult, is_same_without_kernels
from kernelwright.sandbox.run_watch import watched
from kernelwright.sandbox.torch_tree import (
    NAMES,
    digest,
    from_torch,
    tensors_in,
    to_torch,
)

Header: TypeAlias = Mapping[str, Json]
Answer: TypeAlias = "tuple[dict[str, Json], Sequence[Buffer]]"
Handler: TypeAlias = "Callable[[Header, Sequence[Buffer]], Answer]"

FLUSH_BYTES = 64 << 20
"""Bytes streamed through the caches before a cold call: more than any private cache level."""

_no_grad = torch.no_grad
_manual_seed = torch.manual_seed
_copy = torch.Tensor.copy_
_clone = torch.clone
_sum = torch.sum
_default_dtype = torch.get_default_dtype
_threads = torch.get_num_threads
_is_deterministic = torch.are_deterministic_algorithms_enabled


@dataclass(slots=True)
class ModuleHost:
    """One module in this process, and what is held for timing it.

    Attributes:
        folder: The work folder: the module's files lie here and are imported from here.
        module: The constructed module, None before `construct`.
    """

    folder: Path
    module: torch.nn.Module | None = None
    _class: Any = None
    _sets: list[tuple[Any, ...]] = field(default_factory=list)
    _last: Any = None
    _kept: Any = None
    _flush: torch.Tensor | None = None
    _flags: tuple[object, ...] = ()
    _fault: ModuleFault | None = None
    _earlier: EarlierResult = field(default_factory=EarlierResult)

    def handlers(self) -> dict[str, Handler]:
        """Return what this host answers, by `op`; a host with more to offer adds its own."""
        return {
            "nothing": lambda header, blobs: ({}, ()),
            "load": self.load,
            "construct": self.construct,
            "state": self.state,
            "digests": self.digests,
            "run": self.run,
            "hold": self.hold,
            "flush": self.flush,
            "tick": self.tick,
            "settle": self.settle,
            "outputs": self.outputs,
        }

    def load(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Import `file` from the work folder as module `name` and find its `class`."""
        file, class_name = str(header["file"]), str(header["class"])
        self._flags = _global_flags()
        namespace = import_file(self.folder / file, str(header.get("name", "candidate")))
        found = namespace.get(class_name)
        if not (isinstance(found, type) and issubclass(found, torch.nn.Module)):
            raise ModuleFault(
                Category.FORMAT, f"{file} defines no torch.nn.Module called {class_name}"
            )
        self._class = found
        self._check_flags()
        return {}, ()

    def construct(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Seed, construct and set the mode; answer with the state that can be copied in."""
        if self._class is None:
            raise ModuleFault(Category.FORMAT, "nothing was loaded")
        self.module = self._last = self._kept = None
        self._earlier.forget()
        init = to_torch(decoded(header["init"], blobs))
        with blamed_on_the_module("constructing the module", self.folder), _no_grad():
            _manual_seed(int(_number(header["seed"])))
            module = self._class(*init)
            module.train(bool(header["training"]))
        self.module = module
        self._check_flags()
        return {"state": [_described(name, held) for name, held in state_of(module).items()]}, ()

    def state(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Copy in parameters and buffers by the module's names for them."""
        tree = decoded(header["state"], blobs)
        held = state_of(self._constructed())
        if not isinstance(tree, dict) or not set(tree) <= set(held):
            raise ModuleFault(Category.FORMAT, "the state to copy has other names")
        with _no_grad():
            for name, source in tree.items():
                _copy(held[name], to_torch(source))
        return {}, ()

    def digests(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Answer with the state and the CRC-32 of each tensor's bytes."""
        held = state_of(self._constructed())
        return {"state": [_described(n, t) | {"digest": digest(t)} for n, t in held.items()]}, ()

    def run(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Call `forward` once on fresh copies, poisoned and traced as asked."""
        module = self._constructed()
        tree = decoded(header["args"], blobs)
        args = to_torch(tree)
        before = [(tensor, tuple(tensor.shape), tensor.stride()) for tensor in tensors_in(args)]
        poison = None if header.get("poison") is None else Poison(str(header["poison"]))
        if header.get("seed") is not None:
            _manual_seed(int(_number(header["seed"])))
        is_traced = bool(header.get("trace"))
        with (
            blamed_on_the_module("calling forward", self.folder),
            _no_grad(),
            watched(poison=poison, is_traced=is_traced) as watch,
        ):
            result = module(*args)
        self._check_flags()
        outputs = from_torch(result)
        mutated = mutated_in(tree, before)
        self._earlier.check(result, outputs)
        is_idle = bool(watch.kernel_calls) and is_same_without_kernels(
            module, tree, outputs, poison
        )
        skeleton, out = encoded(outputs)
        answer: dict[str, Json] = {
            "outputs": skeleton,
            "mutated": list(mutated),
            "dispatched": list(watch.dispatched),
            "kernel_calls": list(watch.kernel_calls[:4096]),
            "idle": is_idle,
        }
        return answer, out

    def hold(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Keep argument sets for timing; equal shapes get new content at their old addresses."""
        trees = decoded(header["sets"], blobs)
        if not isinstance(trees, list) or not all(isinstance(item, tuple) for item in trees):
            raise ModuleFault(Category.FORMAT, "sets must be a list of argument tuples")
        self._last = self._kept = None
        self._earlier.forget()
        sets = []
        for index, tree in enumerate(trees):
            kept = self._sets[index] if index < len(self._sets) else None
            if kept is None or not is_refilled(kept, tree):
                kept = to_torch(tree)
            sets.append(kept)
        self._sets = sets
        gc.collect()
        return {}, ()

    def flush(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Read a buffer larger than the private caches, so that the next call starts cold."""
        if self._flush is None:
            self._flush = torch.ones(FLUSH_BYTES // 4, dtype=torch.float32)
        _sum(self._flush)
        return {}, ()

    def tick(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Call `forward` some times, on the held sets in turn; the trusted side times the answer.

        With `keep`, what that call returned is copied at once, whatever calls follow it.
        """
        self._last = self._kept = result = None
        first, repeats = int(_number(header["set"])), int(_number(header["repeats"]))
        keep = -1 if header.get("keep") is None else int(_number(header["keep"]))
        try:
            module, sets = self._constructed(), self._sets
            calls = [sets[(first + step) % len(sets)] for step in range(repeats)]
            with blamed_on_the_module("calling forward", self.folder), _no_grad():
                for step, args in enumerate(calls):
                    result = None
                    result = module(*args)
                    if step == keep:
                        self._kept = from_torch(result)
        except ModuleFault as fault:
            self._fault = fault
        self._last = result
        return {}, ()

    def keep(self) -> None:
        """Copy what the last timed call returned, right after it was answered.

        A module that returns before its work is done, and lets a thread finish it, is found out
        by these bytes: they are taken before the trusted side has asked for anything.
        """
        if self._kept is None and self._last is not None:
            self._kept = from_torch(self._last)

    def settle(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Answer when the work after a timed call is done; tell what went wrong in the call."""
        if self._fault is not None:
            fault, self._fault = self._fault, None
            raise fault
        return {}, ()

    def outputs(self, header: Header, blobs: Sequence[Buffer]) -> Answer:
        """Answer with the copy that was taken right after the last timed call."""
        skeleton, out = encoded(self._kept)
        return {"outputs": skeleton}, out

    def _constructed(self) -> torch.nn.Module:
        if self.module is None:
            raise ModuleFault(Category.FORMAT, "no module was constructed")
        return self.module

    def _check_flags(self) -> None:
        if _global_flags() != self._flags:
            raise ModuleFault(
                Category.HACK,
                "the module changed global settings of PyTorch (default dtype, threads or"
                " deterministic mode): leave them alone",
            )


def serve(channel: Channel) -> None:
    """Answer requests about one module until the trusted side closes the channel."""
    host = ModuleHost(Path.cwd())
    serve_requests(channel, host.handlers(), after={"tick": host.keep})


def serve_requests(
    channel: Channel,
    handlers: Mapping[str, Handler],
    *,
    after: Mapping[str, Callable[[], None]] | None = None,
) -> None:
    """Answer each request with the handler of its `op`; `after` runs once the answer is sent."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    # What is there now stays: collecting after each request must not walk through all of torch.
    gc.freeze()
    gc.disable()
    later = after or {}
    while True:
        header, blobs = channel.receive()
        op = str(header.get("op"))
        answer, out = _answered(handlers, op, header, blobs)
        channel.send(answer, out)
        if op in later and "ok" in answer:
            later[op]()


def import_file(path: Path, name: str) -> dict[str, Any]:
    """Import the Python file at `path` as module `name` and return its namespace.

    Its folder comes first on the import path, so that its other parts can be imported.

    Raises:
        ModuleFault: if there is no such file, or importing it raises.
    """
    folder = path.parent
    if not path.is_file():
        raise ModuleFault(Category.FORMAT, f"there is no file {path.name}")
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ModuleFault(Category.FORMAT, f"{path.name} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with blamed_on_the_module(f"importing {path.name}", folder):
        spec.loader.exec_module(module)
    return vars(module)


def state_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Return the parameters and buffers of a module by name: what the harness copies."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _answered(
    handlers: Mapping[str, Handler], op: str, header: Header, blobs: Sequence[Buffer]
) -> Answer:
    try:
        answer, out = handlers[op](header, blobs)
    except ModuleFault as fault:
        return {"failure": {"category": fault.category.value, "reason": fault.reason}}, ()
    except MemoryError:
        return _failure(Category.MEMORY, f"out of memory while answering {op!r}"), ()
    except Exception:  # noqa: BLE001 - told to the trusted side; this process must go on answering
        told = traceback.format_exc(limit=-3).strip()
        return _failure(Category.CRASH, f"the host could not answer {op!r}: {told}"), ()
    return {"ok": True, **answer}, out


def _failure(category: Category, reason: str) -> dict[str, Json]:
    return {"failure": {"category": category.value, "reason": reason}}


def _described(name: str, tensor: torch.Tensor) -> dict[str, Json]:
    dtype = NAMES.get(tensor.dtype, str(tensor.dtype))
    return {"name": name, "shape": [int(n) for n in tensor.shape], "dtype": dtype}


def _global_flags() -> tuple[object, ...]:
    return (_default_dtype(), _threads(), _is_deterministic(), os.environ.get("OMP_NUM_THREADS"))


def _number(value: Json) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModuleFault(Category.FORMAT, f"expected a number, got {value!r}")
    return value
