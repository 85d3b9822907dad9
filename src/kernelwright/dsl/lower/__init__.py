"""Lowering: kernels as fused loops, and the C++ printed from them.

`lower_cpp(program, host_name, schedule)` gives a complete `kernel.cpp` and its `Signature`.
"""

from __future__ import annotations

from kernelwright.dsl.lower.cpp import lower_cpp, program_text
from kernelwright.dsl.lower.signature import Argument, CppFiles, Role, Signature

__all__ = ["Argument", "CppFiles", "Role", "Signature", "lower_cpp", "program_text"]
