"""Projects as text: what is read, what is refused and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kernelwright.core.errors import UsageMistake
from kernelwright.emulator.project import (
    DirectProject,
    OperatorProject,
    ProjectFault,
    load_project,
    project_from_json,
    project_from_parts,
    project_from_python,
    snake_case,
)
from support.ascendc_projects import as_python, description, scale_project


def direct(**changes: object) -> str:
    sources = [
        {"path": "kernel/k.cpp", "content": "void f() { k<<<1, nullptr, s>>>(x); }"},
        {"path": "kernel/bind.cpp", "content": "PYBIND11_MODULE(my_ops, m) {}"},
        {"path": "ModelNew.py", "content": "import my_ops"},
    ]
    document = {"entry": {"model": "ModelNew.py::ModelNew"}, "sources": sources}
    return json.dumps({**document, **changes})


def fault_of(found: object) -> ProjectFault:
    assert isinstance(found, ProjectFault), found
    return found


@pytest.mark.parametrize("form", ["strings", "fenced strings", "folder"])
def test_the_same_project_comes_out_of_every_form(form: str, tmp_path: Path) -> None:
    parts = scale_project()
    if form == "folder":
        for name, text in parts.items():
            (tmp_path / name).write_text(text)
        found = load_project(tmp_path)
    else:
        text = as_python(parts)
        path = tmp_path / "answer.txt"
        path.write_text(f"```python\n{text}\n```\n" if form == "fenced strings" else text)
        found = load_project(path)
    assert isinstance(found, OperatorProject)
    assert (found.operator, found.kernel_name) == ("ScaleCustom", "scale_custom")
    assert dict(found.files) == parts


def test_a_file_of_strings_is_read_and_never_run(tmp_path: Path) -> None:
    trap = tmp_path / "ran"
    text = as_python(scale_project()) + f"\nopen({str(trap)!r}, 'w')\n"
    assert isinstance(project_from_python(text), OperatorProject)
    assert not trap.exists()


def test_a_part_that_is_computed_is_refused() -> None:
    text = as_python(scale_project()).replace("kernel_src = ", "kernel_src = str() + ")
    fault = fault_of(project_from_python(text))
    assert (fault.part, "literal" in fault.reason) == ("kernel_src.cpp", True)


def test_missing_parts_are_named() -> None:
    parts = scale_project()
    del parts["kernel_src.cpp"], parts["model_src.py"]
    assert fault_of(project_from_parts(parts)).reason == "the project lacks kernel_src, model_src"


def test_json_and_host_part_must_name_one_operator() -> None:
    parts = {**scale_project(), "project_json_src.json": description(op="OtherCustom")}
    fault = fault_of(project_from_parts(parts))
    assert "'OtherCustom'" in fault.reason
    assert "ScaleCustom" in fault.reason


def test_broken_json_is_placed() -> None:
    parts = {**scale_project(), "project_json_src.json": '[\n{"op": }\n]'}
    fault = fault_of(project_from_parts(parts))
    assert (fault.part, fault.line) == ("project_json_src.json", 2)


def test_a_registration_in_a_comment_is_none() -> None:
    parts = scale_project()
    host = parts["host_operator_src.cpp"].replace("OP_ADD", "// OP_ADD")
    assert "OP_ADD" in fault_of(project_from_parts({**parts, "host_operator_src.cpp": host})).reason


def test_a_direct_launch_document_is_sorted_into_kernels_and_bindings() -> None:
    found = project_from_json(direct())
    assert isinstance(found, DirectProject)
    assert (found.kernels, found.bindings) == (("kernel/k.cpp",), ("kernel/bind.cpp",))
    assert (found.module_name, found.model) == ("my_ops", "ModelNew.py")
    assert found.include_folders == (".", "kernel")


@pytest.mark.parametrize("path", ["../x.cpp", "/etc/x.cpp", ""])
def test_a_source_outside_the_project_is_refused(path: str) -> None:
    fault = fault_of(project_from_json(direct(sources=[{"path": path, "content": ""}])))
    assert "no relative path" in fault.reason


def test_a_document_without_a_binding_is_refused() -> None:
    sources = [{"path": "k.cpp", "content": "k<<<1, 0, s>>>(x);"}]
    assert "PYBIND11_MODULE" in fault_of(project_from_json(direct(sources=sources))).reason


def test_a_path_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageMistake, match="there is no project"):
        load_project(tmp_path / "absent.py")


@pytest.mark.parametrize(
    ("operator", "stem"),
    [
        ("TanhCustom", "tanh_custom"),
        ("LeNet5Custom", "le_net5_custom"),
        ("MaxPooling2dCustom", "max_pooling2d_custom"),
        ("RMSNormCustom", "rms_norm_custom"),
        ("GELU", "gelu"),
    ],
)
def test_file_stems_follow_the_operator(operator: str, stem: str) -> None:
    assert snake_case(operator) == stem
