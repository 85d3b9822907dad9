"""A tokenizer for C++ text: enough to find names, scopes and launches without being fooled.

Comments and literals (raw strings too) are tokens of their own, so that nothing inside them is
taken for code. Preprocessor lines are one token each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """What a token is."""

    WORD = auto()
    NUMBER = auto()
    TEXT = auto()
    """A string or character literal."""
    MARK = auto()
    """An operator or punctuation."""
    BLANK = auto()
    """White space or a comment."""
    DIRECTIVE = auto()
    """A preprocessor line, with its continuation lines."""


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: What it is.
        text: Its characters as written.
        start: Offset of the first character.
        line: 1-based line of the first character.
    """

    kind: Kind
    text: str
    start: int
    line: int

    @property
    def end(self) -> int:
        """Offset past the last character."""
        return self.start + len(self.text)


_RULES = (
    (Kind.BLANK, r"\s+|//(?:\\\n|[^\n])*|/\*.*?(?:\*/|\Z)"),
    (Kind.TEXT, r'(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"'),
    (Kind.TEXT, r'(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?\'(?:\\.|[^\'\\\n])+\''),
    (Kind.NUMBER, r"\.?[0-9](?:[eEpP][+-]|'[0-9A-Fa-f]|[.0-9A-Za-z_])*"),
    (Kind.WORD, r"[A-Za-z_]\w*"),
    (Kind.MARK, r"<<<|>>>|::|->|\S"),
)
_TOKEN = re.compile("|".join(f"(?P<k{i}>{rule})" for i, (_, rule) in enumerate(_RULES)), re.S)
_DIRECTIVE = re.compile(r"#(?:\\\r?\n|/\*.*?\*/|[^\n])*", re.S)


def tokens(text: str) -> Iterator[Token]:
    """Yield every token of `text`, blanks included: joined they are the text again."""
    at, line, fresh = 0, 1, True
    while at < len(text):
        directive = _DIRECTIVE.match(text, at) if fresh and text[at] == "#" else None
        found = directive or _TOKEN.match(text, at)
        if found is None:  # every character is a MARK at least
            raise AssertionError(f"no token at offset {at}")
        if directive is not None:
            kind = Kind.DIRECTIVE
        else:
            name = next(key for key, value in found.groupdict().items() if key != "fence" and value)
            kind = _RULES[int(name[1:])][0]
        token = Token(kind, found.group(), at, line)
        yield token
        fresh = (fresh and kind is Kind.BLANK) or (kind is Kind.BLANK and "\n" in token.text)
        at, line = token.end, line + token.text.count("\n")


def code_tokens(text: str) -> list[Token]:
    """Return the tokens that are code: no blanks, no preprocessor lines."""
    return [one for one in tokens(text) if one.kind not in (Kind.BLANK, Kind.DIRECTIVE)]


def closing(code: Sequence[Token], opening: int) -> int:
    """Return the index of the bracket that closes the one at `opening`, or -1."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    opens, closes = code[opening].text, pairs[code[opening].text]
    depth = 0
    for index in range(opening, len(code)):
        depth += (code[index].text == opens) - (code[index].text == closes)
        if depth == 0:
            return index
    return -1


def split_at_commas(code: Sequence[Token]) -> list[list[Token]]:
    """Split an argument list at its top-level commas; brackets of every kind protect them."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in code:
        depth += (token.text in "([{") - (token.text in ")]}")
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts if parts != [[]] else []


def macro_calls(text: str, name: str) -> list[tuple[tuple[str, ...], list[list[Token]]]]:
    """Find calls of the macro `name`: the namespaces around each, and its arguments."""
    code = code_tokens(text)
    found: list[tuple[tuple[str, ...], list[list[Token]]]] = []
    scopes: list[str | None] = []
    pending: str | None = None
    for index, token in enumerate(code):
        following = code[index + 1] if index + 1 < len(code) else None
        if token.text == "namespace" and following is not None and following.kind is Kind.WORD:
            pending = _namespace_at(code, index + 1)
        elif token.text == "{":
            scopes.append(pending)
            pending = None
        elif token.text == "}" and scopes:
            scopes.pop()
        elif token.text == name and following is not None and following.text == "(":
            end = closing(code, index + 1)
            if end > 0:
                around = tuple(scope for scope in scopes if scope is not None)
                found.append((around, split_at_commas(code[index + 2 : end])))
    return found


def _namespace_at(code: Sequence[Token], index: int) -> str:
    words = [code[index].text]
    while index + 2 < len(code) and code[index + 1].text == "::":
        index += 2
        words.append(code[index].text)
    return "::".join(words)


def kernels_in(text: str) -> list[str]:
    """Return the names of the functions marked `__global__`, in order."""
    code = code_tokens(text)
    names = []
    for index, token in enumerate(code):
        if token.text != "__global__":
            continue
        for ahead in range(index + 1, min(index + 12, len(code) - 1)):
            if code[ahead + 1].text == "(" and code[ahead].kind is Kind.WORD:
                names.append(code[ahead].text)
                break
    return names
