"""The parts of a CPU candidate: which must be there, and which names they may have."""

from __future__ import annotations

import re

from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category

MODEL = "model.py"
KERNEL = "kernel.cpp"
_CPP = (".cpp", ".h", ".hpp")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,120}")
_OURS = frozenset({"kernel_ops.py", "kernel.so"})
_MOST_BYTES = 1 << 20


def cpp_parts(candidate: Candidate) -> tuple[tuple[str, str], ...]:
    """Return the C++ parts as (path, content), in order of path."""
    return tuple(part for part in candidate.parts if part[0].endswith(_CPP))


def complaint_about(candidate: Candidate) -> Failure | None:
    """Return what is wrong with the parts themselves, None if nothing is."""
    files = candidate.files
    for path, content in files.items():
        problem = _problem(path, content)
        if problem:
            return Failure(Category.FORMAT, problem)
    if MODEL not in files:
        return Failure(
            Category.FORMAT, f"there is no part {MODEL}: it must define ModelNew(torch.nn.Module)"
        )
    if not any(path.endswith(".cpp") for path in files) and not is_inline(candidate):
        return Failure(
            Category.FORMAT,
            f"there is no part {KERNEL}: the computation must be in C++ with a plain C ABI",
        )
    return None


def _problem(path: str, content: str) -> str:
    steps = path.split("/")
    if not _NAME.fullmatch(path) or any(step in {"", ".", ".."} for step in steps):
        return f"{path[:80]!r} is no name for a part: use letters, digits and _ . - /"
    if path in _OURS:
        return f"{path} is generated: leave it out"
    if path != MODEL and not path.endswith(_CPP):
        return f"{path} is no part of a CPU candidate: it has {MODEL}, .cpp, .h and .hpp parts"
    if len(content.encode()) > _MOST_BYTES:
        return f"{path} is larger than 1 MiB"
    return ""


def is_inline(candidate: Candidate) -> bool:
    """Whether it is a single KernelBench-style file that builds its C++ with `load_inline`."""
    files = candidate.files
    return len(files) == 1 and any("load_inline" in text for text in files.values())
