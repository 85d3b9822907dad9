"""An export is read back as the candidate it was, and a loader hides nothing."""

from __future__ import annotations

import pytest

from kernelwright.backends.cpu.export import exported
from kernelwright.backends.cpu.restore import restored
from kernelwright.core.candidate import Candidate
from kernelwright.core.task import Task

KERNEL = 'extern "C" void copy(const float* x, float* y, long long n) {}\n'
BODY = "\nclass ModelNew:\n    pass\n"


@pytest.mark.parametrize(
    "imports",
    [
        "import torch\nimport kernel_ops\n",
        "import torch\nimport kernel_ops as ops\n",
        "import torch\nfrom kernel_ops import copy\n",
        '"""Said first."""\nfrom __future__ import annotations\nimport torch\nimport kernel_ops\n',
    ],
)
def test_an_export_gives_its_candidate_back(imports: str) -> None:
    candidate = Candidate.of("cpu", {"kernel.cpp": KERNEL, "model.py": imports + BODY})
    task = Task(name="copy", source="", path="copy.py")
    model = exported(candidate, task, flags=["-O3"])["model.py"]
    again = restored(model)
    assert "ctypes" in model
    assert _statements(again) == _statements(imports + BODY)


def test_what_a_loader_was_changed_to_is_dropped() -> None:
    source = (
        "def _load_kernels():\n    import torch\n    return torch\n"
        "_KERNEL_OPS = _load_kernels()\nkernel_ops = _KERNEL_OPS\n" + BODY
    )
    assert _statements(restored(source)) == _statements("import kernel_ops\n" + BODY)


@pytest.mark.parametrize("source", ["import kernel_ops\n" + BODY, "def broken(:\n", ""])
def test_other_text_comes_back_unchanged(source: str) -> None:
    assert restored(source) == source


def _statements(source: str) -> list[str]:
    ignored = ("#", "from __future__")
    return [s for s in map(str.strip, source.splitlines()) if s and not s.startswith(ignored)]
