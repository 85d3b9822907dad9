"""The child's side of a lowered program: loads the library, holds the tensors, calls.

It runs beside code that is not trusted, so the clock and every judgement are the other side's.
Requests have a JSON header with `op`; see `HANDLERS`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Buffer
from kernelwright.sandbox.channel import Channel

ALIGNMENT = 64
"""Where tensors start, as PyTorch's do."""


@dataclass(slots=True)
class ProgramHost:
    """One library and one set of arguments.

    Attributes:
        memory: Bytes of each tensor argument, in order, with room to align them.
        starts: Where each tensor begins in its memory.
    """

    library: ctypes.CDLL | None = None
    memory: list[bytearray] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    pointers: list[Any] = field(default_factory=list)
    numbers: list[Any] = field(default_factory=list)

    def load(self, header: dict[str, Any], blobs: Sequence[Buffer]) -> list[Buffer]:
        """Load the library and take copies of the tensors."""
        self.library = ctypes.CDLL(str(header["library"]))
        for blob in blobs:
            data = memoryview(blob).cast("B")
            memory = bytearray(len(data) + ALIGNMENT)
            base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            start = -base % ALIGNMENT
            memory[start : start + len(data)] = data
            self.memory.append(memory)
            self.sizes.append(len(data))
            self.starts.append(start)
            self.pointers.append(ctypes.c_void_p(base + start))
        for kind, text in header["numbers"]:
            real = kind == "f64"
            self.numbers.append(
                ctypes.c_double(float.fromhex(text)) if real else ctypes.c_int64(int(text))
            )
        return []

    def check(self, header: dict[str, Any], blobs: Sequence[Buffer]) -> list[Buffer]:
        """Answer with the line of the program that refuses the call, 0 for none."""
        line = ctypes.c_int64()
        self._function(str(header["function"]))(*self.numbers, ctypes.byref(line))
        return [int(line.value).to_bytes(8, "little", signed=True)]

    def call(self, header: dict[str, Any], blobs: Sequence[Buffer]) -> list[Buffer]:
        """Call the program once."""
        self._function(str(header["function"]))(*self.pointers, *self.numbers)
        return []

    def tensors(self, header: dict[str, Any], blobs: Sequence[Buffer]) -> list[Buffer]:
        """Answer with the bytes of some tensors."""
        return [
            memoryview(self.memory[i])[self.starts[i] : self.starts[i] + self.sizes[i]]
            for i in header["which"]
        ]

    def _function(self, name: str) -> Any:
        assert self.library is not None
        function = getattr(self.library, name)
        function.restype = None
        return function


Handler = Callable[[dict[str, Any], Sequence[Buffer]], "list[Buffer]"]


def serve(channel: Channel) -> None:
    """Answer requests until the other side closes the line."""
    host = ProgramHost()
    handlers: dict[str, Handler] = {
        "load": host.load,
        "check": host.check,
        "call": host.call,
        "tensors": host.tensors,
    }
    while True:
        header, blobs = channel.receive()
        answer: dict[str, Json] = {"ok": True}
        channel.send(answer, handlers[str(header["op"])](dict(header), blobs))
