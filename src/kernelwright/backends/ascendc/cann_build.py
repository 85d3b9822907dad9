"""Builds a project of six parts with CANN: generate, build, install, bind.

Takes:   the parts, a toolkit, and a way to run a command in a folder.
Gives:   the folder of installed operators and the extension module, or why not.
Leaves:  running and profiling on the chip.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kernelwright.backends.ascendc import parts
from kernelwright.backends.ascendc.cann import Cann
from kernelwright.backends.ascendc.cann_log import complaint
from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category
from kernelwright.emulator.project import snake_case

MODULE = "custom_ops_lib"
BUILD_S = 600.0
"""Seconds for one step; public harnesses allow a build 300 to 600 s."""

_SETUP = """\
import glob
import os

import torch_npu
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension
from torch_npu.utils.cpp_extension import NpuExtension

include = os.path.join(os.path.dirname(torch_npu.__file__), "include/third_party/acl/inc")
extension = NpuExtension(
    name="custom_ops_lib", sources=glob.glob("*.cpp"), extra_compile_args=["-I" + include]
)
setup(name="custom_ops", ext_modules=[extension], cmdclass={"build_ext": BuildExtension})
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a build.

    Attributes:
        name: What it does, for feedback.
        argv: Program and arguments.
        folder: Where it runs.
        env: Variables that it needs.
    """

    name: str
    argv: tuple[str, ...]
    folder: Path
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step ended.

    Attributes:
        returncode: Its exit status; None if it was ended for its time.
        log: Everything that it wrote, stdout and stderr.
    """

    returncode: int | None
    log: str


@dataclass(frozen=True, slots=True)
class Deployed:
    """What a build left.

    Attributes:
        operators: Folder that the operators were installed to.
        extension: The extension module that binds them.
        log: Everything that the steps wrote.
    """

    operators: Path
    extension: Path
    log: str


def build_project(
    cann: Cann, files: Mapping[str, str], folder: Path, run: Callable[[Step], Ended]
) -> Deployed | Failure:
    """Build and install a project in an empty folder.

    Args:
        cann: The toolkit.
        files: The six parts by name.
        folder: Where everything is made.
        run: Executes a step, with a limit of `BUILD_S`.
    """
    operator = _operator(files[parts.JSON])
    if isinstance(operator, Failure):
        return operator
    name = snake_case(operator)
    (folder / "op.json").write_text(files[parts.JSON], encoding="utf-8")
    project, operators, binding = folder / "project", folder / "opp", folder / "binding"
    written = {
        f"op_host/{name}_tiling.h": parts.TILING,
        f"op_host/{name}.cpp": parts.HOST,
        f"op_kernel/{name}.cpp": parts.KERNEL,
    }
    logs: list[str] = []

    def done(step: str, *argv: str, cwd: Path, env: Mapping[str, str]) -> Failure | None:
        ended = run(Step(step, argv, cwd, env))
        logs.append(ended.log)
        return _judged(step, ended, written)

    env = cann.environment()
    generate = (str(cann.msopgen), "gen", "-i", "op.json", "-c", cann.chip, "-lan", "cpp")
    failure = done("msopgen", *generate, "-out", "project", cwd=folder, env=env)
    if failure is not None:
        return failure
    for path, part in written.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(files[part], encoding="utf-8")
    failure = done("build.sh", "bash", "build.sh", cwd=project, env=env)
    if failure is not None:
        return failure
    installer = next(iter(sorted((project / "build_out").glob("custom_opp_*.run"))), None)
    if installer is None:
        return Failure(
            Category.COMPILE_ERROR, f"build.sh made no package:\n{logs[-1][-2000:]}".strip()
        )
    install = ("bash", str(installer), f"--install-path={operators}")
    failure = done("install", *install, cwd=project, env=env)
    if failure is not None:
        return failure
    binding.mkdir()
    (binding / parts.BINDING).write_text(files[parts.BINDING], encoding="utf-8")
    (binding / "setup.py").write_text(_SETUP, encoding="utf-8")
    bind = ("python3", "setup.py", "build_ext", "--inplace")
    failure = done("binding", *bind, cwd=binding, env=cann.environment(operators=operators))
    if failure is not None:
        return failure
    extension = next(iter(sorted(binding.glob(f"{MODULE}*.so"))), None)
    if extension is None:
        return Failure(Category.COMPILE_ERROR, "the binding was built, but no extension was made")
    return Deployed(operators, extension, "\n".join(logs))


def _operator(description: str) -> str | Failure:
    try:
        found = json.loads(description)
    except ValueError as error:
        return Failure(Category.FORMAT, f"{parts.JSON} is not valid JSON: {error}")
    entries = found if isinstance(found, list) else [found]
    names = [entry.get("op") for entry in entries if isinstance(entry, dict)]
    if len(names) != 1 or not isinstance(names[0], str) or not names[0].isidentifier():
        return Failure(Category.FORMAT, f'{parts.JSON} must describe one operator with its "op"')
    return names[0]


def _judged(step: str, ended: Ended, known: Mapping[str, str]) -> Failure | None:
    if ended.returncode is None:
        return Failure(Category.TIMEOUT, f"{step} timed out after {BUILD_S:.0f}s")
    said = complaint(ended.log, known)
    if ended.returncode == 0 and not said:
        return None
    words = said or ended.log[-2000:].strip() or f"exit status {ended.returncode}"
    return Failure(Category.COMPILE_ERROR, f"{step} failed:\n{words}")
