"""C++ source as a syntax tree, so that comments, strings and dead text do not count."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser


@functools.cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cpp.language()))


def parsed(source: str) -> Node:
    """Return the syntax tree of a C++ text; it has error nodes where the text is malformed."""
    return _parser().parse(source.encode()).root_node


def walked(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it, in order of the text."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(current.children))


def text_of(node: Node) -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode(errors="replace")
