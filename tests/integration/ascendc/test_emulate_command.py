"""`emulate` and `verify --backend ascendc` as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from integration.ascendc.conftest import EXAMPLE
from kernelwright.cli.app import run

pytestmark = pytest.mark.usefixtures("user_cache")


def test_emulate_tells_outputs_faults_and_simulated_time(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = np.linspace(-4, 4, 5000, dtype=np.float32)
    np.save(tmp_path / "x.npy", x)
    out, trace = tmp_path / "y.npz", tmp_path / "pipes.json"
    status = run(
        ["emulate", str(EXAMPLE / "tanh"), "--inputs", str(tmp_path / "x.npy"), "--json"]
        + ["--out", str(out), "--trace", str(trace)]
    )
    told = json.loads(capsys.readouterr().out)
    assert status == 0
    assert told["ok"] is True
    assert told["faults"] == []
    assert told["simulated"] is True
    assert "910B2" in told["timing_model"]
    assert "aiv_vec_ratio" in next(iter(told["profile"]["profiling"].values()))
    np.testing.assert_allclose(np.load(out)["arr_0"], np.tanh(x), rtol=3e-6, atol=1e-7)
    events = json.loads(trace.read_text())["traceEvents"]
    lines = {event["args"].get("line") for event in events if "args" in event}
    assert any("kernel_src.cpp" in str(event.get("args")) for event in events), lines


def test_emulate_ends_with_1_where_a_rule_is_broken(
    tmp_path: Path, parts: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in parts.items():
        (tmp_path / name).write_text(text.replace("        xQueue.FreeTensor(x);\n", ""))
    status = run(["emulate", str(tmp_path), "--inputs", "1003", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert status == 1
    assert told["ok"] is False
    fault = told["faults"][0]
    assert set(fault) == {"code", "severity", "file", "line", "block", "pipe", "message"}
    assert fault["file"] == "kernel_src.cpp"


def test_a_project_that_is_none_says_which_part_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kernel_src.cpp").write_text("// only this")
    assert run(["emulate", str(tmp_path), "--inputs", "8", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["faults"][0]["code"] == "PROJECT"
    assert "project_json_src" in told["failure"]


def test_verify_judges_a_project_with_simulated_latency(
    capsys: pytest.CaptureFixture[str],
) -> None:
    status = run(
        ["verify", str(EXAMPLE / "tanh.py"), str(EXAMPLE / "tanh"), "--backend", "ascendc"]
        + ["--json"]
    )
    told = json.loads(capsys.readouterr().out)
    assert status == 0, told["reason"]
    assert told["feasible"] is True
    assert told["simulated"] is True
    assert told["speedup"] is None, "a simulated time is never compared with a measured one"
    assert told["gates"]["correctness"]["faults"] == []
