"""What a target of `dsl lower` is: an accepted program in, files and a way to call them out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kernelwright.core.fingerprint import Json
from kernelwright.dsl.bind import Number
from kernelwright.dsl.host_nodes import Program
from kernelwright.dsl.lower.cpp import lower_cpp
from kernelwright.dsl.lower.signature import Argument, Signature


@dataclass(frozen=True, slots=True)
class Lowered:
    """What a host function became.

    Attributes:
        files: Content by file name, the one to read first in front.
        signature: How it is called, as JSON; what is in it is the target's own.
    """

    files: Mapping[str, str]
    signature: dict[str, Json]


class Lowering(Protocol):
    """One target: prints an accepted program; the same program gives the same files."""

    def lower(
        self,
        program: Program,
        host: str,
        *,
        schedule: Mapping[str, int],
        consts: Mapping[str, Number],
    ) -> Lowered:
        """Print a host function and the kernels it launches.

        Args:
            program: A program that every check has accepted.
            host: Name of the host function.
            schedule: Values of schedule holes; others take their defaults.
            consts: Values of the host function's compile-time parameters.

        Raises:
            UsageMistake: where these values make the program wrong; the message has the code.
        """
        ...


class CppLowering:
    """C++ with a plain C ABI, as the CPU backend builds it."""

    def lower(
        self,
        program: Program,
        host: str,
        *,
        schedule: Mapping[str, int],
        consts: Mapping[str, Number],
    ) -> Lowered:
        """Print one `kernel.cpp`; see `Lowering.lower`."""
        lowered = lower_cpp(program, host, schedule, consts)
        return Lowered(lowered.files, signature_json(lowered.signature))


def signature_json(signature: Signature) -> dict[str, Json]:
    """The C function's signature: what a caller in any language has to know."""
    return {
        "function": signature.name,
        "check": f"{signature.name}_check",
        "arguments": [_argument_json(item) for item in signature.arguments],
        "returns": list(signature.returns),
        "consts": dict(signature.consts),
    }


def _argument_json(item: Argument) -> dict[str, Json]:
    return {
        "name": item.name,
        "role": item.role.value,
        "dtype": item.dtype.value,
        "shape": list(item.shape_text) or None,
        "is_written": item.is_written,
        "default": item.default,
    }
