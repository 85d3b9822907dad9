"""Rewrites `kernel<<<blocks, l2, stream>>>(args)` into a call that a host compiler takes."""

from __future__ import annotations

from collections.abc import Sequence

from kernelwright.emulator.project import ProjectFault
from kernelwright.emulator.tokens import Kind, Token, closing, split_at_commas, tokens

HEADER = '#include "kw/direct_launch.h"\n'


def rewritten(text: str, *, path: str) -> str | ProjectFault:
    """Return `text` with every launch as a call of `kw::launch`; line numbers stay.

    The kernel's template arguments and namespace stay with it; arguments are evaluated once, when
    the launch is.
    """
    every = list(tokens(text))
    hidden = next((one for one in every if one.kind is Kind.DIRECTIVE and "<<<" in one.text), None)
    if hidden is not None:
        why = "a launch inside a macro is not supported; write kernel<<<...>>>(...) in a function"
        return ProjectFault(path, why, hidden.line)
    code = [place for place, token in enumerate(every) if _is_code(token)]
    out = text
    # From the last launch to the first, so that offsets of earlier ones stay right.
    for place in reversed(range(len(code))):
        if every[code[place]].text != "<<<":
            continue
        inside = [every[at] for at in code]
        replaced = _launch(inside, place, out)
        if replaced is None:
            line = every[code[place]].line
            return ProjectFault(
                path, "a launch must read kernel<<<blocks, l2, stream>>>(...)", line
            )
        start, end, call = replaced
        out = out[:start] + call + out[end:]
    return out


def _is_code(token: Token) -> bool:
    return token.kind not in (Kind.BLANK, Kind.DIRECTIVE)


def _launch(code: Sequence[Token], place: int, text: str) -> tuple[int, int, str] | None:
    """Return the span of the launch whose `<<<` is at `place`, and the call that replaces it."""
    name = _callee_start(code, place)
    closes = next((i for i in range(place, len(code)) if code[i].text == ">>>"), -1)
    if name < 0 or closes < 0 or closes + 1 >= len(code) or code[closes + 1].text != "(":
        return None
    end = closing(code, closes + 1)
    settings = split_at_commas(code[place + 1 : closes])
    if end < 0 or not 1 <= len(settings) <= 4:
        return None
    callee = text[code[name].start : code[place].start].strip()
    blocks = text[settings[0][0].start : settings[0][-1].end]
    arguments = text[code[closes + 1].end : code[end].start]
    kept_lines = "\n" * text[code[place].start : code[closes].start].count("\n")
    label = callee.replace("\\", "").replace('"', "").replace("\n", " ")
    call = (
        f'::kw::launch("{label}", {blocks}, ::kw::bindKernel({kept_lines}'
        f"[](auto... kwArgs) {{ {callee}(kwArgs...); }}"
        f"{', ' if arguments.strip() else ''}{arguments}))"
    )
    return code[name].start, code[end].end, call


def _callee_start(code: Sequence[Token], place: int) -> int:
    """Walk back over `a::b<T, 3>` from the `<<<` at `place`; -1 if there is no name."""
    at = place - 1
    if at >= 0 and code[at].text in (">", ">>>"):
        depth = 0
        while at >= 0:
            depth += {">": 1, ">>>": 3, "<": -1, "<<<": -3}.get(code[at].text, 0)
            if depth == 0:
                break
            at -= 1
        at -= 1
    if at < 0 or code[at].kind is not Kind.WORD:
        return -1
    while at >= 2 and code[at - 1].text == "::" and code[at - 2].kind is Kind.WORD:
        at -= 2
    return at - 1 if at >= 1 and code[at - 1].text == "::" else at
