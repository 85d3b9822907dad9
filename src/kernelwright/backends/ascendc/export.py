"""Artifacts: a project as it goes to a machine with the vendor's toolkit, and back."""

from __future__ import annotations

from collections.abc import Mapping

from kernelwright.backends.ascendc.parts import MODEL, PARTS
from kernelwright.core.candidate import Candidate
from kernelwright.core.task import Task
from kernelwright.emulator.project import OperatorProject, project_from_python, snake_case
from kernelwright.emulator.project import project_from_parts as project_of

SINGLE = "model.py"
NOTES = "BUILD.md"

_STEPS = """\
# {operator}: an Ascend C project for {task}

On a machine with CANN, torch and torch_npu:

1. `msopgen gen -i project_json_src.json -c ai_core-Ascend910B2 -lan cpp -out project`
2. Copy `host_tiling_src.h` to `project/op_host/{name}_tiling.h`, `host_operator_src.cpp` to
   `project/op_host/{name}.cpp` and `kernel_src.cpp` to `project/op_kernel/{name}.cpp`.
3. `cd project && bash build.sh`, then run `build_out/custom_opp_*.run`.
4. Build `python_bind_src.cpp` as the extension `custom_ops_lib` with torch_npu's `NpuExtension`.
5. `model.py` defines `ModelNew`.

The project was verified on an emulated chip. Its times are simulated, not measured.
"""


def exported(candidate: Candidate, task: Task) -> Mapping[str, str]:
    """Return the six parts, `model.py`, and how to build them."""
    files = {part: candidate.files[part] for part in PARTS}
    project = project_of(files)
    operator = project.operator if isinstance(project, OperatorProject) else "the operator"
    notes = _STEPS.format(operator=operator, task=task.name, name=snake_case(operator))
    return {**files, SINGLE: files[MODEL], NOTES: notes}


def restored(files: Mapping[str, str]) -> Mapping[str, str]:
    """Return the six parts out of what `exported` wrote, or out of one file of six strings."""
    if set(files) == {SINGLE}:
        project = project_from_python(files[SINGLE])
        return project.files if isinstance(project, OperatorProject) else files
    return {path: text for path, text in files.items() if path not in (SINGLE, NOTES)}
