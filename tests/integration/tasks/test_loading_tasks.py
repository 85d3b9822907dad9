"""Task files of users become tasks: their code runs in the real sandbox only."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.core.errors import TaskInvalid
from kernelwright.core.task import Role
from kernelwright.sandbox import Sandbox
from kernelwright.tasks import LoadOptions, load_suite, load_task

HEADER = "import torch\nfrom torch import nn\n"
GOOD = (
    HEADER
    + """
batch_size = 4096
width = 1024
class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, 8)
    def forward(self, x):
        return torch.relu(self.fc(x))
def get_inputs():
    return [torch.rand(batch_size, width)]
def get_init_inputs():
    return [width]
"""
)


def written(folder: Path, source: str, name: str = "op.py") -> Path:
    path = folder / name
    path.write_text(source)
    return path


def complaint(path: Path, sandbox: Sandbox, options: LoadOptions | None = None) -> TaskInvalid:
    with pytest.raises(TaskInvalid) as caught:
        load_task(path, sandbox=sandbox, options=options or LoadOptions(memory_bytes=1 << 30))
    return caught.value


def test_a_file_becomes_a_task(tmp_path: Path, sandbox: Sandbox) -> None:
    task = load_task(written(tmp_path, GOOD), sandbox=sandbox)
    assert (task.name, task.source, task.category) == ("op", GOOD, tmp_path.name)
    assert task.version.startswith("sha256:")
    (x,) = task.by_role(Role.INPUT)
    assert (x.name, x.shape, x.dtype) == ("x", (4096, 1024), "float32")
    assert [spec.name for spec in task.by_role(Role.PARAMETER)] == ["fc.weight", "fc.bias"]
    assert [spec.shape for spec in task.by_role(Role.OUTPUT)] == [(4096, 8)]
    assert task.input_bytes == 4 * (4096 * 1024 + 8 * 1024 + 8)
    assert task.flops == 2 * 4096 * 1024 * 8 + 4096 * 8
    assert (task.is_random, task.is_training, task.shrink) == (False, True, None)


def test_the_same_content_is_the_same_task_anywhere(tmp_path: Path, sandbox: Sandbox) -> None:
    one = load_task(written(tmp_path, GOOD), sandbox=sandbox)
    two = load_task(written(tmp_path, GOOD, "copy.py"), sandbox=sandbox)
    assert one.task_id == two.task_id


def test_an_oversized_task_is_shrunk_and_says_how(tmp_path: Path, sandbox: Sandbox) -> None:
    options = LoadOptions(max_bytes=1 << 20)
    task = load_task(written(tmp_path, GOOD), sandbox=sandbox, options=options)
    assert task.shrink is not None
    assert task.shrink.sizes == (("batch_size", 4096, 256), ("width", 1024, 512))
    assert task.shrink.max_bytes == 1 << 20
    assert "batch_size = 256" in task.source
    assert task.by_role(Role.INPUT)[0].shape == (256, 512)


def test_a_task_that_does_not_fit_is_refused_before_it_is_allocated(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    source = GOOD.replace("4096", "1 << 30")
    error = complaint(written(tmp_path, source), sandbox)
    assert "take 4.1 TiB, and this machine has 1.0 GiB free" in error.what
    assert "--max-bytes 268MB" in error.fix


def test_a_constant_tensor_that_fills_the_memory_kills_only_its_process(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    source = GOOD.replace("width = 1024", "width = 1024\nhog = bytearray(64 << 30)")
    error = complaint(written(tmp_path, source), sandbox)
    assert "memory" in str(error).lower()


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ("torch.relu(self.fc(x))", "self.fc(x).view(7)", 11, "shape '[7]' is invalid"),
        ("self.fc = nn.Linear(width, 8)", "self.fc = 1 / 0", 9, "ZeroDivisionError"),
        ("batch_size = 4096", "batch_size = undefined", 4, "NameError"),
        ("batch_size = 4096", "raise SystemExit(0)", 4, "SystemExit"),
    ],
)
def test_what_the_file_raises_is_reported_with_its_line(  # noqa: PLR0913
    tmp_path: Path, sandbox: Sandbox, old: str, new: str, line: int, what: str
) -> None:
    error = complaint(written(tmp_path, GOOD.replace(old, new)), sandbox)
    assert error.line == line
    assert what in error.what
    assert len(str(error).splitlines()) == 2


def test_a_file_that_never_ends_is_stopped(tmp_path: Path, sandbox: Sandbox) -> None:
    path = written(tmp_path, GOOD.replace("width = 1024", "while True: pass"))
    error = complaint(path, sandbox, LoadOptions(timeout_s=1.0))
    assert "took more than 1 s" in error.what


def test_what_cannot_be_sent_to_a_candidate_is_refused(tmp_path: Path, sandbox: Sandbox) -> None:
    source = GOOD.replace("return [width]", "return [torch.float32]").replace(
        "nn.Linear(width, 8)", "nn.Linear(1024, 8, dtype=width)"
    )
    error = complaint(written(tmp_path, source), sandbox)
    assert "init width is a dtype" in error.what


def test_randomness_and_mode_are_stated(tmp_path: Path, sandbox: Sandbox) -> None:
    source = GOOD.replace("torch.relu(", "nn.functional.dropout(")
    assert load_task(written(tmp_path, source), sandbox=sandbox).is_random
    still = GOOD.replace("nn.Linear(width, 8)", "nn.Linear(width, 8)\n        self.eval()")
    assert not load_task(written(tmp_path, still), sandbox=sandbox).is_training


def test_a_suite_keeps_its_broken_files_with_their_problem(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    folder = tmp_path / "mine" / "level7"
    folder.mkdir(parents=True)
    written(folder, GOOD, "2_good.py")
    written(folder, GOOD.replace("(x))", "(x + y))"), "10_bad.py")
    suite = load_suite(tmp_path / "mine", sandbox=sandbox)
    assert (suite.name, [task.name for task in suite.tasks]) == ("mine", ["2_good"])
    good, bad = suite.entries
    assert good.task is not None
    assert (good.task.suite, good.task.category, good.task.version) == (
        "mine",
        "level7",
        suite.version,
    )
    assert bad.problem is not None
    assert "name 'y' is not defined" in bad.problem.what
