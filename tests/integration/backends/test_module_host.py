"""A module in a sandboxed child, seen from the trusted side."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kernelwright.core.execution import Call, Failure, Poison, Returned, StateTransfer
from kernelwright.core.tensor import Opaque, Tensor
from kernelwright.core.verdict import Category
from kernelwright.sandbox import Limits, Sandbox
from kernelwright.sandbox.module_client import HOST_ENTRY, ModuleClient, Timeouts

HEAD = "import torch\nfrom torch import nn\n"


def floats(*values: float) -> Tensor:
    return Tensor("float32", (len(values),), struct.pack(f"{len(values)}f", *values))


def values(tree: object) -> list[float]:
    assert isinstance(tree, Tensor), tree
    return list(struct.unpack(f"{tree.count}f", tree.data))


def call(*args: Tensor, state: dict[str, Tensor] | None = None) -> Call:
    return Call(seed=1, init=(), state=state or {}, args=args, is_training=True)


def forward(body: str, init: str = "pass") -> str:
    return (
        f"{HEAD}class ModelNew(nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n        {init}\n"
        f"    def forward(self, x):\n        {body}\n"
    )


class Opened:
    """Opens modules from source text in one warm sandbox."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self._sandbox = sandbox
        self._folder = folder

    @contextmanager
    def __call__(self, source: str, timeouts: Timeouts | None = None) -> Iterator[ModuleClient]:
        (self._folder / "model.py").write_text(source)
        child = self._sandbox.start(HOST_ENTRY, workdir=self._folder, limits=Limits())
        with ModuleClient(child, timeouts=timeouts) as module:
            yield module


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as warm:
        yield warm


@pytest.fixture
def opened(sandbox: Sandbox, tmp_path: Path) -> Opened:
    return Opened(sandbox, tmp_path)


def failure_of(result: object) -> Failure:
    assert isinstance(result, Failure), result
    return result


def test_outputs_come_back_as_bytes(opened: Opened) -> None:
    with opened(forward("return x * 2, {'half': x[:1] / 2, 'n': 3}")) as module:
        assert module.construct(call()) is StateTransfer.NONE
        returned = module.run((floats(1, -2),), is_traced=True)
    assert isinstance(returned, Returned)
    assert isinstance(returned.outputs, tuple)
    doubled, rest = returned.outputs
    assert values(doubled) == [2, -4]
    assert isinstance(rest, dict)
    assert values(rest["half"]) == [0.5]
    assert rest["n"] == 3
    assert "aten::mul" in returned.dispatched


def test_named_results_of_torch_count_as_tuples(opened: Opened) -> None:
    with opened(forward("return torch.max(x, dim=0)")) as module:
        module.construct(call())
        returned = module.run((floats(1, 3, 2),))
    assert isinstance(returned, Returned)
    assert isinstance(returned.outputs, tuple)
    assert values(returned.outputs[0]) == [3]


def test_arguments_get_the_strides_that_were_asked_for(opened: Opened) -> None:
    x = Tensor("float32", (2, 3), struct.pack("6f", *range(6)), strides=(1, 4))
    with opened(forward("return torch.tensor(x.stride()), x.contiguous()")) as module:
        module.construct(call())
        returned = module.run((x,))
    assert isinstance(returned, Returned)
    assert isinstance(returned.outputs, tuple)
    strides, same = returned.outputs
    assert isinstance(strides, Tensor)
    assert struct.unpack("2q", strides.data) == (1, 4)
    assert values(same) == [0, 1, 2, 3, 4, 5]


def test_parameters_are_copied_by_name_and_reseeded_when_names_differ(opened: Opened) -> None:
    source = forward("return self.w + x", "self.w = nn.Parameter(torch.zeros(2))")
    with opened(source) as module:
        copied = module.construct(call(state={"w": floats(3, 4)}))
        returned = module.run((floats(1, 1),))
        other = module.construct(call(state={"weight": floats(3, 4)}))
        found = module.construct(call(state={"weight": floats(0, 0)}))
        later = module.construct(call(state={"weight": floats(3, 4)}))
        again = module.run((floats(1, 1),))
    assert copied is StateTransfer.COPIED
    assert isinstance(returned, Returned)
    assert values(returned.outputs) == [4, 5]
    assert other is StateTransfer.RESEEDED
    # Once the numbers after the same seed have shown which is which, others can be copied.
    assert found is later is StateTransfer.COPIED
    assert isinstance(again, Returned)
    assert values(again.outputs) == [4, 5]


def test_buffers_of_its_own_do_not_keep_a_modules_parameters_from_being_copied(
    opened: Opened,
) -> None:
    init = "self.w = nn.Parameter(torch.ones(2)); self.register_buffer('s', torch.zeros(9))"
    with opened(forward("return self.w + x", init)) as module:
        module.construct(call(state={"w": floats(1, 1)}))
        copied = module.construct(call(state={"w": floats(3, 4)}))
        returned = module.run((floats(1, 1),))
    assert copied is StateTransfer.COPIED
    assert isinstance(returned, Returned)
    assert values(returned.outputs) == [4, 5]


def test_a_module_without_the_parameters_that_start_as_constants_is_refused(opened: Opened) -> None:
    state = {"weight": floats(1, 1), "bias": floats(0, 0), "running_mean": floats(0, 0)}
    with opened(forward("return x", "self.b = nn.Parameter(torch.zeros(2))")) as module:
        failure = failure_of(module.construct(call(state=state)))
    with opened(forward("return x", "self.p = nn.Parameter(torch.zeros(2, 2))")) as module:
        packed = module.construct(call(state=state))
    assert failure.category is Category.HACK
    assert "weight" in failure.reason
    assert packed is StateTransfer.RESEEDED


def test_a_module_that_writes_to_its_argument_is_told_on(opened: Opened) -> None:
    with opened(forward("x.view(-1)[0] = 7; return x + 0")) as module:
        module.construct(call())
        returned = module.run((floats(1, 2),))
    assert isinstance(returned, Returned)
    assert returned.mutated_args == (0,)


@pytest.mark.parametrize(("poison", "expected"), [(Poison.NAN, "nan"), (Poison.PLAUSIBLE, "0.747")])
def test_unwritten_output_shows_the_poison(opened: Opened, poison: Poison, expected: str) -> None:
    with opened(forward("return torch.empty_like(x)")) as module:
        module.construct(call())
        returned = module.run((floats(1, 2),), poison=poison)
    assert isinstance(returned, Returned)
    assert {f"{value:.3g}" for value in values(returned.outputs)} == {expected}


def test_memory_from_malloc_is_poisoned_too(opened: Opened) -> None:
    body = (
        "import ctypes; libc = ctypes.CDLL(None); libc.malloc.restype = ctypes.c_void_p; "
        "p = libc.malloc(4096); return torch.frombuffer("
        "bytearray(ctypes.string_at(p + 1024, 8)), dtype=torch.float32)"
    )
    with opened(forward(body)) as module:
        module.construct(call())
        returned = module.run((floats(1, 2),), poison=Poison.PLAUSIBLE)
    assert isinstance(returned, Returned)
    assert values(returned.outputs) == pytest.approx([0.747, 0.747], abs=1e-3)


@pytest.mark.parametrize(
    "body",
    [
        "return x.as_subclass(type('Liar', (torch.Tensor,), {}))",
        "y = x + 1; y.note = 'hello'; return y",
        "return x.to_sparse()",
    ],
)
def test_only_plain_tensors_count_as_tensors(opened: Opened, body: str) -> None:
    with opened(forward(body)) as module:
        module.construct(call())
        returned = module.run((floats(1, 2),))
    assert isinstance(returned, Returned)
    assert isinstance(returned.outputs, Opaque)


def test_an_exception_names_the_line_of_the_candidate(opened: Opened) -> None:
    with opened(forward("raise ValueError('rows must be even')")) as module:
        module.construct(call())
        failure = failure_of(module.run((floats(1),)))
    assert failure.category is Category.EXCEPTION
    assert "rows must be even" in failure.reason
    assert "model.py:8 in forward" in failure.reason
    assert str(opened._folder) not in failure.reason


@pytest.mark.parametrize(
    ("body", "category", "words"),
    [
        ("import os; os._exit(0)", Category.CRASH, "status 0"),
        ("raise SystemExit(0)", Category.EXCEPTION, "SystemExit"),
        ("import ctypes; ctypes.string_at(0)", Category.CRASH, "SIGSEGV"),
        ("torch.set_default_dtype(torch.float64); return x", Category.HACK, "global settings"),
        ("return torch.empty(1 << 50)", Category.MEMORY, "memory"),
    ],
)
def test_every_way_to_end_is_a_failure(
    opened: Opened, body: str, category: Category, words: str
) -> None:
    with opened(forward(body)) as module:
        module.construct(call())
        failure = failure_of(module.run((floats(1),)))
    assert failure.category is category
    assert words in failure.reason


def test_a_stalled_module_times_out_and_stays_dead(opened: Opened) -> None:
    with opened(forward("while True: pass"), timeouts=Timeouts(run_s=0.5)) as module:
        module.construct(call())
        failure = failure_of(module.run((floats(1),)))
        again = failure_of(module.tick(0, repeats=1, is_cold=False))
    assert failure.category is Category.TIMEOUT
    assert failure.reason.startswith("first correctness run timed out after 0.5s")
    assert again == failure


@pytest.mark.parametrize(
    ("source", "category", "words"),
    [
        (HEAD, Category.FORMAT, "ModelNew"),
        ("import nowhere_to_be_found", Category.EXCEPTION, "nowhere_to_be_found"),
        (forward("return x", "raise KeyError('scale')"), Category.EXCEPTION, "constructing"),
    ],
)
def test_a_module_that_cannot_be_constructed_says_why(
    opened: Opened, source: str, category: Category, words: str
) -> None:
    with opened(source) as module:
        failure = failure_of(module.construct(call()))
    assert failure.category is category
    assert words in failure.reason


def test_timed_calls_are_counted_and_their_output_can_be_checked(opened: Opened) -> None:
    source = forward("self.n += 1; return x + self.n", "self.n = 0")
    with opened(source) as module:
        module.construct(call())
        assert module.hold([(floats(1, 2),), (floats(10, 20),)]) is None
        warm = module.tick(0, repeats=3, is_cold=False)
        first = module.last_outputs()
        cold = module.tick(1, repeats=2, is_cold=True)
        second = module.last_outputs()
    assert isinstance(warm, float)
    assert isinstance(cold, float)
    assert values(first) == [4, 5]
    # Five calls so far; the last one is on the set after the one that it began with.
    assert values(second) == [1 + 5, 2 + 5]


def test_the_clock_counts_the_call_and_not_the_asking(opened: Opened) -> None:
    with opened(forward("import time; time.sleep(0.05); return x")) as module:
        module.construct(call())
        module.hold([(floats(1),)])
        elapsed = module.tick(0, repeats=2, is_cold=False)
    assert isinstance(elapsed, float)
    assert 0.099 < elapsed < 0.5


def test_new_content_arrives_at_the_old_address(opened: Opened) -> None:
    with opened(forward("return x + 0, torch.tensor(x.data_ptr())")) as module:
        module.construct(call())
        seen = []
        for value in (1.0, 2.0):
            module.hold([(floats(value, value),)])
            module.tick(0, repeats=1, is_cold=False)
            outputs = module.last_outputs()
            assert isinstance(outputs, tuple)
            seen.append(outputs)
    (one, place), (two, same_place) = seen
    assert values(one) == [1, 1]
    assert values(two) == [2, 2]
    assert place == same_place


def test_an_exception_while_being_timed_is_reported(opened: Opened) -> None:
    with opened(forward("raise RuntimeError('late')")) as module:
        module.construct(call())
        module.hold([(floats(1),)])
        failure = failure_of(module.tick(0, repeats=1, is_cold=False))
    assert failure.category is Category.EXCEPTION
    assert "late" in failure.reason


def test_work_left_to_a_thread_is_missing_from_the_timed_output(opened: Opened) -> None:
    body = (
        "import threading, time; y = torch.zeros_like(x); "
        "threading.Thread(target=lambda: (time.sleep(0.2), y.copy_(x))).start(); return y"
    )
    with opened(forward(body)) as module:
        module.construct(call())
        module.hold([(floats(5),)])
        module.tick(0, repeats=1, is_cold=False)
        outputs = module.last_outputs()
    assert values(outputs) == [0]


def test_any_call_of_a_batch_can_be_kept_and_checked(opened: Opened) -> None:
    source = forward("self.n += 1; return x + self.n", "self.n = 0")
    with opened(source) as module:
        module.construct(call())
        module.hold([(floats(10),), (floats(20),), (floats(30),)])
        module.tick(2, repeats=7, is_cold=False, keep=2)
        kept = module.last_outputs()
    assert values(kept) == [20 + 3]


def test_a_buffer_that_is_returned_twice_is_found_out(opened: Opened) -> None:
    source = forward("self.y.copy_(x); return self.y", "self.y = torch.empty(1)")
    with opened(source) as module:
        module.construct(call())
        first = module.run((floats(1),))
        second = failure_of(module.run((floats(2),)))
        module.construct(call())
        third = module.run((floats(3),))
    assert isinstance(first, Returned)
    assert isinstance(third, Returned)
    assert second.category is Category.HACK
    assert "fresh memory" in second.reason


def test_a_random_module_is_seeded_before_each_call_as_the_reference_is(opened: Opened) -> None:
    with opened(forward("return torch.dropout(x, 0.5, True)")) as module:
        module.construct(Call(7, (), {}, (), True))
        first, second = (module.run((floats(*[1.0] * 64),)) for _ in range(2))
        module.construct(Call(8, (), {}, (), True))
        other = module.run((floats(*[1.0] * 64),))
    assert isinstance(first, Returned)
    assert isinstance(second, Returned)
    assert isinstance(other, Returned)
    assert values(first.outputs) == values(second.outputs)
    assert values(first.outputs) != values(other.outputs)
