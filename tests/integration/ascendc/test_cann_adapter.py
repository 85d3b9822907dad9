"""The adapter to a real toolkit, against recorded stand-ins: no CANN can run here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from integration.ascendc import fake_cann
from kernelwright.backends.ascendc import parts
from kernelwright.backends.ascendc.cann import Cann, find_cann
from kernelwright.backends.ascendc.cann_build import Deployed, build_project
from kernelwright.backends.ascendc.msprof import PASSES, read_pass, together
from kernelwright.core.errors import MachineLacks, ToolchainMissing
from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category


def _files(**changed: str) -> dict[str, str]:
    files = {
        parts.JSON: json.dumps([{"op": "TanhCustom"}]),
        parts.TILING: "// tiling\n",
        parts.HOST: "// host\n",
        parts.KERNEL: "// kernel\n",
        parts.BINDING: "// binding\n",
        parts.MODEL: "# model\n",
    }
    return {**files, **changed}


def _built(tmp_path: Path, **changed: str) -> tuple[Deployed | Failure, list[str], Cann]:
    environ, calls = fake_cann.install(tmp_path)
    cann = find_cann(environ)
    assert cann is not None
    work = tmp_path / "work"
    work.mkdir()
    run: Any = fake_cann.runner(environ)
    return build_project(cann, _files(**changed), work, run), calls.read_text().splitlines(), cann


def test_a_project_is_generated_built_installed_and_bound(tmp_path: Path) -> None:
    built, calls, cann = _built(tmp_path)
    assert isinstance(built, Deployed), built
    assert built.extension.name.startswith("custom_ops_lib")
    assert [call.split()[0] for call in calls] == ["msopgen", "build.sh", "installer", "python3"]
    assert calls[0].split()[1:] == (
        ["gen", "-i", "op.json", "-c", "ai_core-Ascend910B2", "-lan", "cpp", "-out", "project"]
    )
    assert calls[1] == "build.sh ", "an installed operator of the same name disturbs a build"
    assert calls[3].endswith("/opp/vendors/customize")
    assert cann.version == "8.2.RC1"
    project = tmp_path / "work" / "project"
    assert (project / "op_host" / "tanh_custom_tiling.h").read_text() == "// tiling\n"
    assert (project / "op_host" / "tanh_custom.cpp").read_text() == "// host\n"
    assert (project / "op_kernel" / "tanh_custom.cpp").read_text() == "// kernel\n"


def test_a_build_that_returns_zero_although_the_kernel_failed_is_a_failure(tmp_path: Path) -> None:
    built, calls, _ = _built(tmp_path, **{parts.KERNEL: "MISSPELT(x);\n"})
    assert isinstance(built, Failure)
    assert built.category is Category.COMPILE_ERROR
    assert "kernel_src.cpp:7:5: error: use of undeclared identifier 'MISSPELT'" in built.reason
    assert str(tmp_path) not in built.reason
    assert len(calls) == 2, "nothing is installed after a failed build"


@pytest.mark.parametrize(
    ("changed", "category", "words"),
    [
        ({parts.KERNEL: "NOPACKAGE"}, Category.COMPILE_ERROR, "made no package"),
        ({parts.BINDING: "WRONG"}, Category.COMPILE_ERROR, "python_bind_src.cpp:3:1: error"),
        ({parts.JSON: '[{"op": "BadName"}]'}, Category.COMPILE_ERROR, "msopgen failed"),
        ({parts.JSON: "["}, Category.FORMAT, "not valid JSON"),
        ({parts.JSON: "[]"}, Category.FORMAT, "one operator"),
    ],
)
def test_each_step_fails_in_its_own_words(
    tmp_path: Path, changed: dict[str, str], category: Category, words: str
) -> None:
    built, _, _ = _built(tmp_path, **changed)
    assert isinstance(built, Failure)
    assert built.category is category
    assert words in built.reason


def test_no_toolkit_is_no_error_but_a_wrong_one_is(tmp_path: Path) -> None:
    assert find_cann({"PATH": "/usr/bin"}) is None
    with pytest.raises(ToolchainMissing, match="no such folder"):
        find_cann({"ASCEND_HOME_PATH": str(tmp_path / "gone")})
    with pytest.raises(ToolchainMissing, match="no msopgen"):
        find_cann({"ASCEND_HOME_PATH": str(tmp_path), "PATH": "/nonexistent"})


def test_three_passes_give_the_mean_of_their_times_and_every_metric(tmp_path: Path) -> None:
    times = {"PipeUtilization": 13640.0, "Memory": 13380.0, "ResourceConflict": 12913.0}
    metrics = {
        "PipeUtilization": "aiv_vec_ratio,0.134",
        "Memory": "aiv_ub_read_bw(GB/s),25.966",
        "ResourceConflict": "aiv_vec_bank_cflt_ratio,0.053",
    }
    for name in PASSES:
        folder = tmp_path / name / "rank" / "ASCEND_PROFILER_OUTPUT"
        folder.mkdir(parents=True)
        column, value = metrics[name].split(",")
        (folder / "step_trace_time.csv").write_text(f"Step,Computing,Free\n1,{times[name]},2\n")
        (folder / "kernel_details.csv").write_text(
            f"Name,Type,Duration(us),{column}\nMinCustom,Min,{times[name]},{value}\n"
        )
    found = together([read_pass(tmp_path / name, name) for name in PASSES])
    assert found.mean_us == pytest.approx(13311.0)
    assert found.std_us == pytest.approx(300.8, abs=0.5)
    kernel = found.kernels["MinCustom"]
    assert kernel["aiv_vec_ratio"] == 0.134
    assert kernel["aiv_ub_read_bw(GB/s)"] == 25.966
    assert kernel["aiv_vec_bank_cflt_ratio"] == 0.053


def test_a_profiler_without_times_is_the_machines_fault(tmp_path: Path) -> None:
    (tmp_path / "step_trace_time.csv").write_text("Step,Free\n1,2\n")
    with pytest.raises(MachineLacks, match="Computing"):
        read_pass(tmp_path, "Memory")
