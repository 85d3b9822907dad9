"""Rewriting of `<<<...>>>`, and the tokenizer below it."""

from __future__ import annotations

import pytest

from kernelwright.emulator.direct_launch import rewritten
from kernelwright.emulator.project import ProjectFault
from kernelwright.emulator.tokens import kernels_in, macro_calls, tokens


def after(text: str) -> str:
    found = rewritten(text, path="k.cpp")
    assert isinstance(found, str), found
    return found


@pytest.mark.parametrize(
    "text",
    [
        "int a = 1'000; // k<<<1>>>(x)\n",
        'auto s = R"x(k<<<1, 0, 0>>>(")y)x"; /* "*/ char c = \'"\';',
        "#define L(k) \\\n  k\nint b;\n",
        "a >>= 2; b = c << 3 >> 1;",
        "unterminated /* comment",
    ],
)
def test_tokens_joined_are_the_text(text: str) -> None:
    assert "".join(token.text for token in tokens(text)) == text


def test_a_launch_keeps_its_template_arguments_and_its_lines() -> None:
    text = "void go() {\n  ns::add<Pair<int, 3>><<<n + 1,\n    nullptr, s>>>(x,\n    f(a, b));\n}\n"
    new = after(text)
    assert '::kw::launch("ns::add<Pair<int, 3>>", n + 1, ::kw::bindKernel(' in new
    assert "ns::add<Pair<int, 3>>(kwArgs...); }, x,\n    f(a, b)))" in new
    assert new.count("\n") == text.count("\n")


def test_a_launch_without_arguments_has_none() -> None:
    assert after("k<<<8, 0, s>>>();").endswith("{ k(kwArgs...); }));")


def test_several_launches_of_one_text_are_all_rewritten() -> None:
    assert after("a<<<1, 0, s>>>(x); b<<<2, 0, s>>>(y);").count("::kw::launch(") == 2


@pytest.mark.parametrize(
    "text", ['auto s = "k<<<1, 0, s>>>(x)";', "// k<<<1, 0, s>>>(x)\n", "int a = b << 3 >> c;"]
)
def test_what_is_no_launch_stays(text: str) -> None:
    assert after(text) == text


def test_a_broken_launch_is_placed() -> None:
    found = rewritten("int a;\nk<<<1, 0, s>>> x;", path="k.cpp")
    assert isinstance(found, ProjectFault)
    assert (found.part, found.line) == ("k.cpp", 2)


def test_a_launch_inside_a_macro_is_refused_not_missed() -> None:
    found = rewritten("#define GO(x) k<<<1, 0, s>>>(x)\n", path="k.cpp")
    assert isinstance(found, ProjectFault)
    assert "macro" in found.reason


def test_macro_calls_come_with_the_namespaces_around_them() -> None:
    text = "namespace a::b { namespace { struct S { int x; }; REG(Op, S<1, 2>) } } REG(P)"
    calls = macro_calls(text, "REG")
    assert [scopes for scopes, _ in calls] == [("a::b",), ()]
    assert ["".join(token.text for token in part) for part in calls[0][1]] == ["Op", "S<1", "2>"]


def test_kernels_are_found_by_their_qualifier() -> None:
    text = (
        'extern "C" __global__ __aicore__ void one(int a) {} void two() {} // __global__ void x()'
    )
    assert kernels_in(text) == ["one"]
