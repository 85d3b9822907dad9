"""Ascend C projects as text: the six-part form and the direct-launch form.

The six parts (EvoKernel, appendix G; MultiKernelBench) come as one Python file of six strings,
which is parsed and never executed, or as a folder of six files. The direct-launch form is a JSON
document of source files. A project that lacks a part or contradicts itself is a `ProjectFault`,
a value: whoever wrote it can mend it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from kernelwright.core.errors import UsageMistake
from kernelwright.core.fingerprint import Json
from kernelwright.emulator.tokens import macro_calls

JSON = "project_json_src.json"
TILING = "host_tiling_src.h"
HOST = "host_operator_src.cpp"
KERNEL = "kernel_src.cpp"
BINDING = "python_bind_src.cpp"
MODEL = "model_src.py"
PARTS = (JSON, TILING, HOST, KERNEL, BINDING, MODEL)

_SOURCES = (".cpp", ".cc", ".cxx", ".asc")


@dataclass(frozen=True, slots=True)
class ProjectFault:
    """Why a text is no project.

    Attributes:
        part: The part at fault, by file name.
        reason: One sentence for whoever wrote it.
        line: 1-based line in that part, 0 where none is at fault.
    """

    part: str
    reason: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class OperatorProject:
    """A six-part project: a custom operator with host side, kernel and binding.

    Attributes:
        operator: The operator's type, such as `TanhCustom`, from the project's JSON.
        files: The six texts by the file names in `PARTS`.
        description: The JSON's entry for the operator.
    """

    operator: str
    files: Mapping[str, str]
    description: Mapping[str, Json] = field(default_factory=dict)

    @property
    def kernel_name(self) -> str:
        """Name of the kernel function and stem of the project's files: `tanh_custom`."""
        return snake_case(self.operator)


@dataclass(frozen=True, slots=True)
class DirectProject:
    """A project that launches its kernels itself, with `kernel<<<blocks, nullptr, stream>>>(...)`.

    Attributes:
        files: Source texts by their relative paths.
        kernels: Paths of the sources that hold kernels.
        bindings: Paths of the sources that hold the Python module.
        include_folders: Relative folders searched for headers.
        module_name: Name under which Python imports the binding.
        model: Path of the Python file with `ModelNew`, empty if there is none.
    """

    files: Mapping[str, str]
    kernels: tuple[str, ...]
    bindings: tuple[str, ...]
    include_folders: tuple[str, ...]
    module_name: str
    model: str


Project: TypeAlias = OperatorProject | DirectProject


def snake_case(operator: str) -> str:
    """Return the file stem that belongs to an operator's type: `LeNet5Custom`, `le_net5_custom`."""
    out = ""
    for place, letter in enumerate(operator):
        if letter.isupper() and place > 0:
            after_lower = not operator[place - 1].isupper() and operator[place - 1] != "_"
            before_lower = place + 1 < len(operator) and operator[place + 1].islower()
            if after_lower or (before_lower and operator[place - 1] != "_"):
                out += "_"
        out += letter.lower()
    return out


def load_project(path: Path) -> Project | ProjectFault:
    """Read a project from a Python file of six strings, a folder, or a direct-launch JSON file.

    Raises:
        UsageMistake: if `path` does not exist.
    """
    if path.is_dir():
        return project_from_parts(
            {
                part: (path / part).read_text(encoding="utf-8")
                for part in PARTS
                if (path / part).is_file()
            }
        )
    if not path.is_file():
        raise UsageMistake(
            f"there is no project at {path}",
            fix="give a folder of six parts, a Python file of six strings, or a direct-launch JSON",
        )
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return project_from_json(text)
    if path.suffix in _SOURCES:
        return _direct({path.name: text}, {}, "")
    return project_from_python(text)


def project_from_python(text: str) -> OperatorProject | ProjectFault:
    """Read six assigned string literals; the text is parsed, never run."""
    try:
        tree = ast.parse(without_fence(text))
    except SyntaxError as error:
        return ProjectFault("project", f"not Python: {error.msg}", error.lineno or 0)
    names = {Path(part).stem: part for part in PARTS}
    files: dict[str, str] = {}
    for statement in tree.body:
        if not (isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)):
            continue
        part = names.get(statement.targets[0].id)
        if part is None:
            continue
        value = statement.value
        if not (isinstance(value, ast.Constant) and isinstance(value.value, str)):
            return ProjectFault(
                part,
                f"{statement.targets[0].id} must be a string literal: the file is read, not run",
                statement.lineno,
            )
        files[part] = value.value
    return project_from_parts(files)


def without_fence(text: str) -> str:
    """Return a reply's code without the Markdown fence around it, if it has one."""
    lines = text.strip().split("\n")
    if lines and lines[0].startswith("```"):
        lines = lines[1:]
        if lines and lines[-1].startswith("```"):
            lines = lines[:-1]
    return "\n".join(lines)


def project_from_parts(files: Mapping[str, str]) -> OperatorProject | ProjectFault:
    """Check that all six parts are there and that the JSON names the operator of the host part."""
    missing = [part for part in PARTS if not files.get(part, "").strip()]
    if missing:
        return ProjectFault(
            missing[0], f"the project lacks {', '.join(Path(part).stem for part in missing)}"
        )
    described = _described(files[JSON])
    if isinstance(described, ProjectFault):
        return described
    operator = str(described["op"])
    return _host_complaint(operator, files[HOST]) or OperatorProject(
        operator, {part: files[part] for part in PARTS}, described
    )


def _described(text: str) -> Mapping[str, Json] | ProjectFault:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        return ProjectFault(JSON, f"not JSON: {error.msg}", error.lineno)
    entries = document if isinstance(document, list) else [document]
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("op"), str) and entry["op"]:
            return entry
    return ProjectFault(JSON, 'no entry names an operator: give "op", such as "TanhCustom"')


def _host_complaint(operator: str, host: str) -> ProjectFault | None:
    calls = macro_calls(host, "OP_ADD")
    added = ["".join(token.text for token in args[0]) for _, args in calls if args]
    if not added:
        return ProjectFault(HOST, f"no OP_ADD registers the operator; end with OP_ADD({operator});")
    if operator not in added:
        return ProjectFault(
            HOST,
            f"the JSON names operator {operator!r} but OP_ADD registers {', '.join(added)}: "
            "both must be the same",
        )
    return None


def project_from_json(text: str) -> DirectProject | ProjectFault:
    """Read a direct-launch document: `sources`, each `path` and `content`; `build`, `entry`."""
    try:
        document = json.loads(without_fence(text))
    except json.JSONDecodeError as error:
        return ProjectFault("project", f"not JSON: {error.msg}", error.lineno)
    sources = document.get("sources") if isinstance(document, dict) else None
    if not isinstance(sources, list) or not sources:
        return ProjectFault("project", 'the document has no "sources" list')
    files: dict[str, str] = {}
    for source in sources:
        path = str(source.get("path", "")) if isinstance(source, dict) else ""
        pure = PurePosixPath(path)
        if not path or pure.is_absolute() or ".." in pure.parts:
            return ProjectFault("project", f"{path!r} is no relative path inside the project")
        if path in files:
            return ProjectFault(path, f"{path} is given twice")
        files[path] = str(source.get("content", ""))
    build = document.get("build")
    entry = document.get("entry")
    model = str(entry.get("model", "")).partition("::")[0] if isinstance(entry, dict) else ""
    return _direct(files, build if isinstance(build, dict) else {}, model)


def _direct(
    files: Mapping[str, str], build: Mapping[str, Json], model: str
) -> DirectProject | ProjectFault:
    sources = sorted(path for path in files if path.endswith(_SOURCES))
    modules = {path: macro_calls(files[path], "PYBIND11_MODULE") for path in sources}
    bindings = _paths(build, "binding_sources") or tuple(path for path in sources if modules[path])
    if not bindings:
        return ProjectFault("project", "no source has a PYBIND11_MODULE, so Python cannot call it")
    kernels = _paths(build, "kernel_sources") or tuple(
        path for path in sources if path not in bindings or "<<<" in files[path]
    )
    if not kernels:
        return ProjectFault("project", "no source launches a kernel with <<<...>>>")
    absent = [path for path in (*bindings, *kernels) if path not in files]
    if absent:
        return ProjectFault(absent[0], f"build names {absent[0]} but no source has that path")
    folders = _paths(build, "include_dirs") or tuple(
        dict.fromkeys([".", *(str(PurePosixPath(path).parent) for path in files)])
    )
    named = [
        "".join(token.text for token in args[0])
        for path in bindings
        for _, args in modules.get(path, [])
        if args
    ]
    name = str(build.get("module_name") or "") or next(
        (one for one in named if one != "TORCH_EXTENSION_NAME"), "benchmark_ops"
    )
    return DirectProject(dict(files), kernels, bindings, folders, name, model)


def _paths(build: Mapping[str, Json], key: str) -> tuple[str, ...]:
    value = build.get(key)
    return tuple(str(path) for path in value) if isinstance(value, list) else ()
