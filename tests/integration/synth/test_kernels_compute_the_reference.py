"""Every template, printed, built with g++ and compared with float64 PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from .reference_tasks import TASKS
from .running import assert_close, leaves, loaded, model_of, widened


def _pair(source: str, folder: Path, schedule: dict[str, str] | None = None) -> tuple[Any, Any]:
    file = loaded(source)
    torch.manual_seed(5)
    reference = file["Model"](*file["get_init_inputs"]())
    for tensor in (*reference.parameters(), *reference.buffers()):
        if tensor.is_floating_point():
            torch.nn.init.uniform_(tensor, 0.5, 1.5)
    candidate = model_of(source, folder, schedule)(*file["get_init_inputs"]())
    if reference.state_dict():
        candidate.load_state_dict(reference.state_dict())
    return reference, candidate


def _check(reference: Any, candidate: Any, inputs: list[Any]) -> None:
    before = [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    exact = type(reference).__new__(type(reference))
    exact.__dict__.update(reference.__dict__)
    with torch.no_grad():
        state = {k: v.clone() for k, v in reference.state_dict().items()}
        want = leaves(reference.double()(*map(widened, inputs)))
        reference.float().load_state_dict(state)
        eager = leaves(reference(*inputs))
        got = leaves(candidate(*inputs))
    assert len(got) == len(want)
    for ours, theirs, single in zip(got, want, eager, strict=True):
        assert_close(ours, theirs, single)
    for ours, theirs in zip(inputs, before, strict=True):
        if isinstance(ours, torch.Tensor):
            assert torch.equal(ours.nan_to_num(), theirs.nan_to_num())
    for name, value in reference.state_dict().items():
        assert torch.allclose(
            value.double(), candidate.state_dict()[name].double(), atol=1e-5, equal_nan=True
        )


def _special(x: Any) -> Any:
    if not isinstance(x, torch.Tensor) or not x.is_floating_point() or x.numel() < 8:
        return x
    x = x.clone()
    flat = x.view(-1)
    values = (float("inf"), -0.0, float("nan"), -float("inf"), 1e-40, -50.0)
    for place, value in enumerate(values):
        flat[(place * 41 + 3) % flat.numel()] = value
    return x


@pytest.mark.parametrize("name", TASKS)
def test_a_kernel_agrees_with_float64(name: str, tmp_path: Path) -> None:
    source = TASKS[name]
    reference, candidate = _pair(source, tmp_path)
    inputs = loaded(source)["get_inputs"]()
    _check(reference, candidate, inputs)
    if name not in {"kl_div", "prod"}:  # a logarithm of probabilities, and a product overflows
        large = [x * 30 if isinstance(x, torch.Tensor) and x.is_floating_point() else x
                 for x in inputs]  # fmt: skip
        _check(reference, candidate, large)
    _check(reference, candidate, [_special(x) for x in inputs])
    strided = [_strided(x) for x in inputs]
    _check(reference, candidate, strided)


SCHEDULES = (
    {"lanes": "8", "unroll": "1", "block": "1024", "reuse": "again", "exp": "5"},
    {"unroll": "8", "passes": "online", "stream": "yes", "grain": "1"},
    {"passes": "online", "reuse": "again", "tile": "64", "rows": "64", "block": "1024"},
    {"stream": "yes", "tile": "128", "lanes": "8", "unroll": "2"},
)
LONG = {
    "softmax": "torch.randn(3, 5003)",
    "layernorm_free": "torch.randn(3, 5003) * 3 + 100",
    "softmax_columns": "torch.randn(2, 300, 139)",
    "frobenius": "torch.randn(3, 50, 60)",
    "argmax_all": "torch.randn(3, 50, 61)",
}


@pytest.mark.parametrize("schedule", SCHEDULES, ids=range(len(SCHEDULES)))
@pytest.mark.parametrize("name", LONG)
def test_every_schedule_computes_the_same(
    name: str, schedule: dict[str, str], tmp_path: Path
) -> None:
    source = TASKS[name]
    reference, candidate = _pair(source, tmp_path, schedule)
    inputs = [eval(LONG[name], {"torch": torch})]
    _check(reference, candidate, inputs)
    _check(reference, candidate, [_special(x) for x in inputs])
    hidden = inputs[0].clone()
    hidden.view(-1)[: hidden.numel() // 3] = -float("inf")
    _check(reference, candidate, [hidden])


def _strided(x: Any) -> Any:
    if not isinstance(x, torch.Tensor) or x.dim() < 2:
        return x
    return x.transpose(0, -1).contiguous().transpose(0, -1)
