"""The Ascend C backend on the emulated chip: right projects pass, broken ones name their line."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

import pytest

from kernelwright.backends.ascendc import parts as names
from kernelwright.backends.ascendc.backend import AscendBackend
from kernelwright.core.candidate import Candidate
from kernelwright.core.execution import Build, Call, Failure, Poison, Returned
from kernelwright.core.fault import Severity
from kernelwright.core.tensor import Tensor
from kernelwright.core.verdict import Category

VALUES = [-3.5, -1.0, -0.0, 0.0, 0.25, 1.0, 20.0, math.inf, -math.inf]


def _call(length: int = 1003) -> Call:
    values = [VALUES[i % len(VALUES)] * (1 if i < len(VALUES) else 0.1) for i in range(length)]
    tensor = Tensor("float32", (length,), struct.pack(f"{length}f", *values))
    return Call(0, (), {}, (tensor,), is_training=False)


def _run(
    backend: AscendBackend, files: Mapping[str, str], *, is_traced: bool = False
) -> Returned | Failure:
    build = backend.build(backend.candidate(files))
    assert isinstance(build, Build), build
    call = _call()
    with backend.open(build) as module:
        made = module.construct(call)
        assert not isinstance(made, Failure), made
        return module.run(call.args, poison=Poison.NAN, is_traced=is_traced)


def _changed(parts: dict[str, str], old: str, new: str, part: str = names.KERNEL) -> dict[str, str]:
    assert parts[part].count(old) == 1, parts[part].count(old)
    return {**parts, part: parts[part].replace(old, new)}


def _line_of(text: str, mark: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if mark in line)


def test_a_right_project_returns_what_its_kernel_computes_and_a_simulated_time(
    ascendc: AscendBackend, parts: dict[str, str]
) -> None:
    returned = _run(ascendc, parts, is_traced=True)
    assert isinstance(returned, Returned), returned
    assert returned.faults == ()
    output = returned.outputs
    assert isinstance(output, Tensor)
    found = struct.unpack("1003f", bytes(output.data))
    given = struct.unpack("1003f", bytes(_call().args[0].data))  # type: ignore[union-attr]
    assert all(
        math.isclose(a, math.tanh(x), rel_tol=3e-6, abs_tol=1e-7)
        for a, x in zip(found, given, strict=True)
    )
    assert returned.kernel_calls == ("tanh_example",)
    assert not returned.is_idle, "without its kernels the project returns something else"
    assert set(returned.dispatched) <= ascendc.allowed_operators()
    assert returned.profile is not None
    assert returned.profile.simulated
    assert "910B2" in returned.profile.tool
    assert 1.0 < returned.profile.duration_us < 1000.0


def test_a_broken_rule_fails_at_its_line_even_where_the_numbers_look_right(
    ascendc: AscendBackend, parts: dict[str, str]
) -> None:
    broken = _changed(parts, "        xQueue.FreeTensor(x);\n", "")
    failed = _run(ascendc, broken)
    assert isinstance(failed, Failure)
    assert failed.category is Category.DEVICE_FAULT
    found = {fault.code: fault for fault in failed.faults}
    fault = found["TENSOR_NOT_FREED"]
    assert (fault.path, fault.severity) == (names.KERNEL, Severity.ERROR)
    assert fault.line == _line_of(broken[names.KERNEL], "xQueue.AllocTensor")
    assert str(fault.line) in failed.reason


def test_a_missing_queue_step_is_a_race_between_pipes(
    ascendc: AscendBackend, parts: dict[str, str]
) -> None:
    broken = _changed(
        parts,
        "LocalTensor<float> x = xQueue.DeQue<float>();",
        "LocalTensor<float> x = work.Get<float>();\n"
        "        DataCopy(x, xGm, n);  // nothing waits for it",
    )
    failed = _run(ascendc, broken)
    assert isinstance(failed, Failure)
    assert "RACE_RAW" in {fault.code for fault in failed.faults}


def test_a_module_that_launches_nothing_is_refused_and_not_blamed_on_the_machine(
    ascendc: AscendBackend, parts: dict[str, str]
) -> None:
    silent = _changed(parts, "EXEC_NPU_CMD(aclnnTanhExample, x, y);", "", names.BINDING)
    failed = _run(ascendc, silent)
    assert isinstance(failed, Failure)
    assert failed.category is Category.HACK


def test_a_failing_tiling_function_is_told_with_its_shape(
    ascendc: AscendBackend, parts: dict[str, str]
) -> None:
    failed = _run(ascendc, _changed(parts, "if (length == 0) {", "if (length > 0) {", names.HOST))
    assert isinstance(failed, Failure)
    assert "HOST_TILING_FAILED" in {fault.code for fault in failed.faults}
    assert "(1003,)" in failed.reason


@pytest.mark.parametrize(
    ("part", "old", "new", "words"),
    [
        (names.KERNEL, "yQueue.EnQue(y);", "yQueue.EnQue(yy);", "kernel_src.cpp:47"),
        (names.KERNEL, "Tanh(y, x,", "Tanhs(y, x,", "did you mean Tanh?"),
        (names.HOST, "tiling.set_length(length);", "tiling.set_size(length);", "host_operator_src"),
        (names.BINDING, "at::empty_like(x)", "at::emptylike(x)", "python_bind_src.cpp"),
        (names.JSON, '"TanhExample"', '"SinhExample"', "SinhExample"),
    ],
)
def test_what_does_not_compile_names_part_and_line(
    ascendc: AscendBackend, parts: dict[str, str], part: str, old: str, new: str, words: str
) -> None:
    failed = ascendc.build(ascendc.candidate(_changed(parts, old, new, part)))
    assert isinstance(failed, Failure)
    assert failed.category in {Category.COMPILE_ERROR, Category.FORMAT}
    assert words in failed.reason, failed.reason
    assert "/tmp" not in failed.reason


def test_a_missing_part_is_said_before_anything_is_built(
    ascendc: AscendBackend, parts: dict[str, str]
) -> None:
    del parts[names.TILING]
    failed = ascendc.build(Candidate.of("ascendc", parts))
    assert isinstance(failed, Failure)
    assert failed.category is Category.FORMAT
    assert names.TILING in failed.reason


def test_one_file_of_six_strings_is_the_same_candidate(
    ascendc: AscendBackend, parts: dict[str, str]
) -> None:
    text = "\n\n".join(f"{path.partition('.')[0]} = {body!r}" for path, body in parts.items())
    assert (
        ascendc.candidate({"model.py": text}).candidate_id == ascendc.candidate(parts).candidate_id
    )
