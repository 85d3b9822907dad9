"""Bindings: what Python may pass, what comes back, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from support.ascendc_projects import scale_project

MORE = """
#include <torch/csrc/autograd/custom_function.h>
std::tuple<at::Tensor, std::vector<int64_t>, double> many(
    const at::Tensor& x, at::IntArrayRef sizes, const std::vector<at::Tensor>& all, bool flag,
    const std::string& word, c10::optional<int64_t> count) {
  double sum = count.value_or(-1) + (flag ? 0.5 : 0.25) + word.size() * 100.0;
  at::Tensor filled = at::full(sizes, static_cast<double>(all.size()), x.options());
  return {filled, x.sizes().vec(), sum};
}
at::Tensor same(at::Tensor x) { return x; }
at::Tensor turned(const at::Tensor& x) { return x.transpose(0, 1); }
at::Tensor moved(const at::Tensor& x) {
  return x.permute({2, 0, 1}).contiguous().view({-1, 2}).slice(0, 1, 4).unsqueeze(0);
}
at::Tensor halves(const at::Tensor& x) { return x.to(at::kHalf).to(at::kFloat); }
double one(const at::Tensor& x) { return x[1][2].item<float>(); }
at::Tensor junk() { return at::empty({3}, at::TensorOptions().dtype(at::kFloat)); }
class Twin : public torch::autograd::Function<Twin> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    context->save_for_backward({x});
    return context->get_saved_variables()[0].clone();
  }
};
at::Tensor twin(const at::Tensor& x) { return Twin::apply(x); }
void write(at::Tensor x) { x.select(0, 1).fill_(9); }
"""

DEFINITIONS = """
  m.def("many", &many);
  m.def("same", &same);
  m.def("turned", &turned);
  m.def("moved", &moved);
  m.def("halves", &halves);
  m.def("one", &one);
  m.def("junk", &junk);
  m.def("twin", &twin);
  m.def("write", &write);
  m.def("twice", [](int64_t n) { return 2 * n; }, "twice n", py::arg("n"));
"""


@pytest.fixture(scope="module")
def project(built: Any) -> Any:
    return built(scale_project(more=MORE, definitions=DEFINITIONS))


def test_values_of_every_kind_cross_and_return(project: Any) -> None:
    x = torch.zeros(2, 3)

    def scene(module: Any) -> Any:
        filled, sizes, total = module.many(x, [2, 2], [x, x, x], True, "ab", 5)
        return filled.tolist(), sizes, total, module.twice(n=21)

    assert project.call(scene).value == ([[3, 3], [3, 3]], [2, 3], 205.5, 42)


def test_views_are_those_of_torch(project: Any) -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)

    def scene(module: Any) -> Any:
        ours = module.moved(x)
        return torch.equal(ours, x.permute(2, 0, 1).contiguous().view(-1, 2)[1:4].unsqueeze(0))

    assert project.call(scene).value is True


def test_an_argument_that_comes_back_is_the_same_object(project: Any) -> None:
    x = torch.zeros(2, 3)
    answer = project.call(lambda module: (module.same(x) is x, module.turned(x).shape))
    assert answer.value == (True, torch.Size([3, 2]))


def test_a_view_of_an_argument_shares_its_memory(project: Any) -> None:
    def scene(module: Any) -> Any:
        x = torch.zeros(2, 3)
        module.turned(x)[2, 1] = 5.0
        return x[1, 2].item()

    assert project.call(scene).value == 5.0


def test_a_strided_argument_is_written_in_place(project: Any) -> None:
    def scene(module: Any) -> Any:
        x = torch.zeros(3, 4)
        module.write(x.t()[1:])
        return x.tolist()

    assert project.call(scene).value == [[0, 0, 9, 0]] * 3


def test_half_precision_rounds_as_torch_does(project: Any) -> None:
    x = torch.randn(4000, generator=torch.Generator().manual_seed(1)) * torch.logspace(-9, 6, 4000)
    answer = project.call(lambda module: torch.equal(module.halves(x), x.half().float()))
    assert answer.value is True


def test_an_autograd_function_runs_forward(project: Any) -> None:
    x = torch.randn(3, 4)
    answer = project.call(lambda m: (torch.equal(m.twin(x), x), m.twin(x) is x))
    assert answer.value == (True, False)


def test_fresh_memory_is_not_a_plausible_number(project: Any) -> None:
    assert project.call(lambda module: bool(module.junk().isnan().all())).value is True


def test_one_element_is_read(project: Any) -> None:
    assert project.call(lambda module: module.one(torch.arange(6.0).view(2, 3))).value == 5.0


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        (lambda module: module.scale(3), "wanted Tensor"),
        (lambda module: module.scale(torch.zeros(2), None, "2"), "wanted float"),
        (lambda module: module.twice(1.5), "wanted int"),
        (lambda module: module.many(torch.zeros(1), [1], [], 1, "a", None), "wanted bool"),
        (lambda module: module.scale(), "wanted x"),
        (lambda module: module.scale(torch.zeros(2), much=2), "incompatible function arguments"),
    ],
)
def test_arguments_of_the_wrong_type_raise_a_type_error(
    project: Any, scene: Any, words: str
) -> None:
    error = project.call(scene, dry=True).error
    assert error.startswith("TypeError")
    assert words in error


def test_a_failed_check_raises_with_its_message(project: Any) -> None:
    answer = project.call(lambda module: module.scale(torch.tensor(1.0)), dry=True)
    assert answer.error == "RuntimeError: scale wants at least one dimension, got 0"


def test_a_declared_schema_is_offered_as_a_torch_operator(project: Any) -> None:
    answer = project.call(
        lambda module: torch.ops.kw_test_ops.scale(torch.zeros(2, 2), 4.0).shape, dry=True
    )
    assert answer.value == torch.Size([2, 2])
    assert answer.reports[0]["tiling"]["factor"] == 4.0


def test_a_binding_that_computes_does_not_compile(built: Any) -> None:
    with pytest.raises(AssertionError, match="matmul"):
        built(scale_project(more="at::Tensor c(at::Tensor x) { return at::matmul(x, x); }"))
