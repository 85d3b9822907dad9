"""Builds a project into a folder that a sandboxed child can run.

Compilers and the project's own static constructors run through a callable given from outside, so
that the caller decides how they are confined. A project that does not build is a `BuildFault`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from kernelwright.core.fingerprint import Json
from kernelwright.emulator.direct_launch import HEADER, rewritten
from kernelwright.emulator.kernel_source import entry, mismatches, preamble
from kernelwright.emulator.library import PRECOMPILED, Runtime
from kernelwright.emulator.operator import Operator, operators_from
from kernelwright.emulator.project import (
    BINDING,
    HOST,
    KERNEL,
    MODEL,
    TILING,
    DirectProject,
    OperatorProject,
    Project,
    ProjectFault,
)

MANIFEST = "kw_manifest.json"
HOST_LIBRARY = "kw_host.so"
BINDING_LIBRARY = "kw_binding.so"


@dataclass(frozen=True, slots=True)
class Said:
    """What a command answered.

    Attributes:
        returncode: Its exit status; anything but 0 is a failure.
        stdout: Its output.
        stderr: Its complaints.
    """

    returncode: int
    stdout: str
    stderr: str


Run = Callable[[Sequence[str], Path], Said]
"""Runs a command in a work folder, confined as its owner sees fit."""


@dataclass(frozen=True, slots=True)
class BuildFault:
    """Why a project does not build.

    Attributes:
        part: The part at fault.
        log: The compiler's complaint, or one sentence.
        line: 1-based line, 0 where none is known.
    """

    part: str
    log: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Built:
    """A project that is ready to run.

    Attributes:
        folder: Where everything lies, the model's file too.
        operators: What the host library registers; empty for a direct launch.
        notes: Disagreements that do no harm here but show carelessness.
    """

    folder: Path
    operators: tuple[Operator, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    part: str
    kind: str
    source: str
    output: str
    folders: tuple[str, ...] = ()


def build(
    project: Project,
    folder: Path,
    tools: Runtime,
    run: Run,
    *,
    platform: Mapping[str, int] = MappingProxyType({}),
    combinations: Sequence[int] | None = None,
) -> Built | BuildFault:
    """Compile `project` in `folder`.

    Args:
        project: What to compile.
        folder: An empty folder that stays as long as the project runs.
        tools: Compiler, headers and runtime (`library.runtime`).
        run: Runs a command.
        platform: What tiling functions are told about the chip (`chip_facts.host_facts`).
        combinations: Data type combinations whose kernels are wanted; all if None.
    """
    if isinstance(project, DirectProject):
        return _build_direct(project, folder, tools, run, platform)
    for part, text in project.files.items():
        (folder / part).write_text(text, encoding="utf-8")
    (folder / f"{project.kernel_name}_tiling.h").write_text(
        f'#pragma once\n#include "{TILING}"\n', encoding="utf-8"
    )
    fault = _compiled(
        [
            _Unit(HOST, "host", HOST, HOST_LIBRARY),
            _Unit(BINDING, "binding", BINDING, BINDING_LIBRARY),
        ],
        folder,
        tools,
        run,
    )
    if fault is not None:
        return fault
    operators = _registered(project, folder, tools, run)
    if isinstance(operators, BuildFault):
        return operators
    operator = next(one for one in operators if one.type == project.operator)
    wanted = range(operator.combinations) if combinations is None else combinations
    units = _kernel_units(project, operator, wanted, folder)
    if isinstance(units, ProjectFault):
        return BuildFault(units.part, units.reason, units.line)
    fault = _compiled(units, folder, tools, run)
    if fault is not None:
        return fault
    kernels: list[Json] = [
        {"operator": operator.type, "combination": index, "library": unit.output}
        for index, unit in zip(wanted, units, strict=True)
    ]
    made: dict[str, Json] = {"host": HOST_LIBRARY, "kernels": kernels, "model": MODEL}
    _finish(folder, tools, {**made, "platform": dict(platform)}, module="custom_ops_lib")
    return Built(folder, operators, tuple(mismatches(project, operator)))


def _registered(
    project: OperatorProject, folder: Path, tools: Runtime, run: Run
) -> tuple[Operator, ...] | BuildFault:
    # By its path: a confined Python need not find the package it belongs to.
    script = Path(__file__).with_name("describe_host.py")
    argv = [sys.executable, str(script), str(tools.library), str(folder / HOST_LIBRARY)]
    said = run(argv, folder)
    if said.returncode != 0:
        return BuildFault(HOST, f"the host library does not load: {said.stderr.strip()}")
    try:
        operators = operators_from(said.stdout)
    except ValueError as error:
        return BuildFault(HOST, f"the host library cannot be asked: {error}")
    known = [one.type for one in operators]
    if project.operator not in known:
        return BuildFault(
            HOST,
            f"the host library registers {', '.join(known) or 'nothing'}, not {project.operator}",
        )
    return operators


def _kernel_units(
    project: OperatorProject, operator: Operator, combinations: Sequence[int], folder: Path
) -> list[_Unit] | ProjectFault:
    source = entry(project, operator)
    if isinstance(source, ProjectFault):
        return source
    units = []
    for index in combinations:
        stem = f"kw_kernel_{index}"
        text = f'#include "{stem}.h"\n{source}'
        (folder / f"{stem}.h").write_text(preamble(project, operator, index), encoding="utf-8")
        (folder / f"{stem}.cpp").write_text(text, encoding="utf-8")
        units.append(_Unit(KERNEL, "kernel", f"{stem}.cpp", f"{stem}.so"))
    return units


def _build_direct(
    project: DirectProject,
    folder: Path,
    tools: Runtime,
    run: Run,
    platform: Mapping[str, int],
) -> Built | BuildFault:
    for path, text in project.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    units = []
    for number, path in enumerate(dict.fromkeys((*project.kernels, *project.bindings))):
        text = project.files[path]
        if "<<<" in text:
            changed = rewritten(text, path=path)
            if isinstance(changed, ProjectFault):
                return BuildFault(changed.part, changed.reason, changed.line)
            text = HEADER + f'#line 1 "{path}"\n' + changed
        source = f"kw_unit_{number}.cpp"
        (folder / source).write_text(text, encoding="utf-8")
        kind = "binding" if path in project.bindings and path not in project.kernels else "kernel"
        beside = str(Path(path).parent)
        units.append(
            _Unit(path, kind, source, f"kw_unit_{number}.o", (*project.include_folders, beside))
        )
    fault = _compiled(units, folder, tools, run)
    if fault is not None:
        return fault
    objects = [unit.output for unit in units]
    said = run([tools.compiler, "-shared", "-o", BINDING_LIBRARY, *objects], folder)
    if said.returncode != 0:
        return BuildFault(project.bindings[0], said.stderr)
    made: dict[str, Json] = {"host": None, "kernels": [], "model": project.model}
    _finish(folder, tools, {**made, "platform": dict(platform)}, module=project.module_name)
    return Built(folder, (), ())


def _compiled(units: Sequence[_Unit], folder: Path, tools: Runtime, run: Run) -> BuildFault | None:
    """Compile the units side by side; return the first complaint in their order."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        answers = list(pool.map(lambda unit: run(command(unit, tools), folder), units))
    for unit, said in zip(units, answers, strict=True):
        if said.returncode != 0:
            return _complaint(unit.part, said.stderr)
    return None


_PLACE = re.compile(r"^(?:\./)?([^\s:]+):(\d+)(?::\d+)?: (?:fatal )?error", re.M)


def _complaint(part: str, log: str) -> BuildFault:
    """Place a compiler's complaint: the tiling header is at fault in two units."""
    found = _PLACE.search(log)
    if found is None:
        return BuildFault(part, log)
    named = found.group(1)
    if named not in (part, TILING):
        return BuildFault(part, log)
    return BuildFault(named, log, int(found.group(2)))


def command(unit: _Unit, tools: Runtime) -> list[str]:
    """Return the compiler's command line for one unit."""
    flags = PRECOMPILED[unit.kind][1]
    argv = [tools.compiler, *flags, "-include", str(tools.precompiled[unit.kind])]
    argv += [f"-I{folder}" for folder in unit.folders] + ["-I.", f"-I{tools.include}"]
    argv += ["-shared"] if unit.output.endswith(".so") else ["-c"]
    return [*argv, unit.source, "-o", unit.output]


def _finish(folder: Path, tools: Runtime, manifest: Mapping[str, Json], *, module: str) -> None:
    document = {
        "runtime": str(tools.library), "binding": BINDING_LIBRARY, "module": module, **manifest,
    }  # fmt: skip
    (folder / MANIFEST).write_text(json.dumps(document), encoding="utf-8")
    (folder / f"{module}.py").write_text(_MODULE, encoding="utf-8")
    (folder / "torch_npu.py").write_text(_TORCH_NPU, encoding="utf-8")


_MODULE = '''\
"""Generated: the project's functions, run by the emulated chip."""

from pathlib import Path

from kernelwright.emulator.binding_host import module_functions

globals().update(module_functions(Path(__file__).parent))
'''

_TORCH_NPU = '''\
"""Generated: the device called `npu`, emulated on the host."""

from kernelwright.emulator.npu_host import *  # noqa: F403
'''
