"""This processor's vector extensions as named compiler flags.

Named, not `-march=native`: the compiler runs confined, may see another processor than the kernel
will, and a flag that the processor lacks ends a kernel with SIGILL.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CPUINFO = Path("/proc/cpuinfo")

X86_FLAGS: Mapping[str, str] = {
    "sse3": "-msse3",
    "pni": "-msse3",
    "ssse3": "-mssse3",
    "sse4_1": "-msse4.1",
    "sse4_2": "-msse4.2",
    "popcnt": "-mpopcnt",
    "avx": "-mavx",
    "avx2": "-mavx2",
    "fma": "-mfma",
    "f16c": "-mf16c",
    "bmi1": "-mbmi",
    "bmi2": "-mbmi2",
    "abm": "-mlzcnt",
    "avx512f": "-mavx512f",
    "avx512cd": "-mavx512cd",
    "avx512bw": "-mavx512bw",
    "avx512dq": "-mavx512dq",
    "avx512vl": "-mavx512vl",
    "avx512_vnni": "-mavx512vnni",
    "avx512_bf16": "-mavx512bf16",
}
_WIDTHS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128))


@dataclass(frozen=True, slots=True)
class Processor:
    """What of the processor decides a build.

    Attributes:
        model: Its name, for reports.
        flags: Compiler flags that switch its vector extensions on.
        vector_bits: Width of its widest vectors.
    """

    model: str
    flags: tuple[str, ...]
    vector_bits: int


def this_processor(cpuinfo: Path = CPUINFO) -> Processor:
    """Read the processor's extensions from the kernel, which lists only those it has enabled."""
    fields = _fields(cpuinfo)
    model = fields.get("model name") or platform.processor() or platform.machine()
    known = frozenset((fields.get("flags") or fields.get("Features") or "").split())
    if "asimd" in known:
        flags: tuple[str, ...] = ("-mcpu=native",)
    else:
        flags = tuple(dict.fromkeys(flag for name, flag in X86_FLAGS.items() if name in known))
    bits = next((width for name, width in _WIDTHS if name in known), 0)
    return Processor(model, flags, bits)


def _fields(cpuinfo: Path) -> dict[str, str]:
    if not cpuinfo.is_file():
        return {}
    first = cpuinfo.read_text(encoding="utf-8", errors="replace").split("\n\n", 1)[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}
