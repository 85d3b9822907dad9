"""What the text of a task file tells, without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.core.errors import TaskInvalid, UsageMistake
from kernelwright.tasks.source import check_source, read_source

GOOD = """
import torch

class Model(torch.nn.Module):
    def forward(self, x):
        return x

def get_inputs():
    return [torch.rand(4)]
"""


def complaint(source: str) -> TaskInvalid:
    with pytest.raises(TaskInvalid) as caught:
        check_source(source, path="dir/op.py")
    return caught.value


def test_a_file_without_get_init_inputs_is_a_task() -> None:
    assert check_source(GOOD, path="op.py").body


def test_a_syntax_error_is_reported_with_file_and_line() -> None:
    error = complaint(GOOD + "\ndef broken(:\n    pass\n")
    assert (error.line, error.path) == (11, "dir/op.py")
    assert str(error).startswith("dir/op.py:11: syntax error")


def test_a_missing_model_is_reported_with_the_name_that_was_probably_meant() -> None:
    error = complaint(GOOD.replace("class Model", "class Modle"))
    assert error.line == 4
    assert "there is no Model; did you mean 'Modle'?" in error.what


def test_missing_get_inputs_is_reported() -> None:
    error = complaint(GOOD.partition("def get_inputs")[0])
    assert "there is no get_inputs" in error.what
    assert "fix: define a function get_inputs()" in str(error)


def test_an_import_that_is_not_installed_is_reported_at_its_line() -> None:
    error = complaint("import json\nfrom no_such_thing.deep import x\n" + GOOD)
    assert error.line == 2
    assert "there is no module 'no_such_thing'" in error.what


def test_an_import_that_may_fail_is_left_to_the_file() -> None:
    guarded = "try:\n    import no_such_thing\nexcept ImportError:\n    no_such_thing = None\n"
    assert check_source(guarded + GOOD, path="op.py").body


def test_a_relative_import_is_refused() -> None:
    assert "cannot import its neighbours" in complaint("from . import other\n" + GOOD).what


def test_a_model_that_is_a_function_is_refused() -> None:
    source = GOOD.replace("class Model(torch.nn.Module):", "def Model():")
    assert "Model is a function" in complaint(source).what


def test_names_bound_inside_an_if_count() -> None:
    nested = "if True:\n" + "".join(f"    {line}\n" for line in GOOD.splitlines())
    assert check_source(nested, path="op.py").body


def test_a_file_is_never_executed_by_reading_it(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    check_source(f"open({str(mark)!r}, 'w').close()\n" + GOOD, path="op.py")
    assert not mark.exists()


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "op.py"
    path.write_bytes(b"import torch\nx = '\xff'\n")
    with pytest.raises(TaskInvalid, match=r"op.py:2: this is no UTF-8 text"):
        read_source(path)


def test_a_missing_file_is_the_users_mistake_and_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "softmax.py").write_text(GOOD)
    with pytest.raises(UsageMistake, match=r"fix: did you mean .*softmax.py"):
        read_source(tmp_path / "sofmax.py")
