"""What a tracing child sends is believed only as far as it fits."""

from __future__ import annotations

from typing import Any

import pytest

from kernelwright.core.errors import NotCovered
from kernelwright.synth.canonical import canonical
from kernelwright.synth.graph import Graph, MalformedGraph, Ref, graph_from_json
from kernelwright.synth.partition import partition
from kernelwright.synth.program import Program, Use


def json_graph(**changes: Any) -> dict[str, Any]:
    graph: dict[str, Any] = {
        "placeholders": [
            {"name": "x_in", "role": "input", "key": 0, "dtype": "float32", "shape": [4, 6]}
        ],
        "baked": [],
        "arguments": 1,
        "nodes": [node("top", "aten.exp.default", ["x_in"], [4, 6])],
        "output": {"ref": "top"},
    }
    return graph | changes


def node(name: str, op: str, args: list[Any], shape: list[int], **kwargs: Any) -> dict[str, Any]:
    given = [{"ref": arg} if isinstance(arg, str) else arg for arg in args]
    return {
        "name": name, "op": op, "args": given, "kwargs": kwargs, "shape": shape,
        "dtype": "float32",
    }  # fmt: skip


def program(*nodes: dict[str, Any]) -> Program:
    data = json_graph(nodes=list(nodes), output={"ref": nodes[-1]["name"]})
    return partition(canonical(graph_from_json(data)))


def test_a_graph_is_read() -> None:
    graph = graph_from_json(json_graph())
    assert isinstance(graph, Graph)
    assert graph.nodes[0].args == (Ref("x_in"),)


@pytest.mark.parametrize(
    "changes",
    [
        {"nodes": "none"},
        {"nodes": [node("a b", "aten.exp.default", ["x_in"], [4, 6])]},
        {"nodes": [node("top", "exp(); system()", ["x_in"], [4, 6])]},
        {"nodes": [node("top", "aten.exp.default", ["x_in"], [-4, 6])]},
        {"nodes": [node("x_in", "aten.exp.default", ["x_in"], [4, 6])]},
        {"output": {"ref": "elsewhere"}},
        {"output": {"kind": "set", "items": []}},
        {"placeholders": [{"name": "x", "role": "input", "key": "a;b", "dtype": "float32",
                           "shape": [4]}]},
        {"placeholders": [{"name": "x", "role": "oracle", "key": 0, "dtype": "float32",
                           "shape": [4]}]},
        {"placeholders": [{"name": "x", "role": "input", "key": 0, "dtype": "quaternion",
                           "shape": [4]}]},
    ],
)  # fmt: skip
def test_a_malformed_graph_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(MalformedGraph):
        graph_from_json(json_graph(**changes))


def test_a_chain_of_maps_is_one_kernel() -> None:
    made = program(
        node("a", "aten.exp.default", ["x_in"], [4, 6]),
        node("b", "aten.mul.Tensor", ["a", 2.0], [4, 6]),
    )
    assert [(k.reduced, len(k.full_stores)) for k in made.kernels] == [(frozenset(), 1)]


def test_a_softmax_is_one_kernel_with_two_passes() -> None:
    made = program(node("a", "aten._softmax.default", ["x_in", 1, False], [4, 6]))
    (kernel,) = made.kernels
    assert len(kernel.passes) == 2
    assert len(kernel.reduced) == 1 and not kernel.is_columns


def test_a_reduction_over_the_first_axis_is_columns() -> None:
    made = program(node("a", "aten.sum.dim_IntList", ["x_in", [0]], [6]))
    assert made.kernels[0].is_columns


def test_a_row_value_that_is_reduced_again_is_carried_in_scratch() -> None:
    made = program(
        node("a", "aten.amax.default", ["x_in", [1]], [4]),
        node("b", "aten.exp.default", ["a"], [4]),
        node("c", "aten.sum.default", ["b"], []),
    )
    assert len(made.kernels) == 2
    assert [b.use for b in made.buffers.values()].count(Use.SCRATCH) == 1


def test_an_unknown_operator_is_named() -> None:
    with pytest.raises(NotCovered, match=r"node 'a', aten\.sort\.default -> float32\[4, 6\]"):
        program(node("a", "aten.sort.default", ["x_in"], [4, 6]))


def test_operators_with_odd_arguments_are_named_and_do_not_crash() -> None:
    with pytest.raises(NotCovered, match="node 'a'"):
        program(node("a", "aten.mul.Tensor", ["x_in"], [4, 6]))
