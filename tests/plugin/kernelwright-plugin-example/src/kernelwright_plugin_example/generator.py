"""A generator for the backend `eager`: the reference itself, as a candidate."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping

from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import NotCovered
from kernelwright.core.ports import Generation, GenerationRequest
from kernelwright.sandbox import Sandbox

BACKEND = "eager"


class VerbatimGenerator:
    """Renames `Model` to `ModelNew`; a refinement only adds a numbered comment."""

    name = "verbatim"

    def __init__(self, sandbox: Sandbox | None = None) -> None:
        # Every generator is given the sandbox; this one runs nothing.
        del sandbox

    def versions(self) -> Mapping[str, str]:
        """Return the versions of everything that can change what it makes."""
        return {"generator.verbatim": "1"}

    def generate(self, request: GenerationRequest, *, rng: random.Random) -> Generation:
        """Make one candidate.

        Raises:
            NotCovered: for other backends, or if the task does not define `Model` itself.
        """
        if request.backend != BACKEND:
            raise NotCovered(
                f"{self.name} does not write for {request.backend!r}", fix=f"use {BACKEND}"
            )
        tree = ast.parse(request.task.source)
        if not any(isinstance(node, ast.ClassDef) and node.name == "Model" for node in tree.body):
            raise NotCovered(
                f"{request.task.name} has no class Model to rename", fix="define one in the file"
            )
        source = ast.unparse(_Renamed().visit(tree))
        if request.start_point is not None:
            source += f"\n# variant {rng.randrange(1 << 30)}"
        candidate = Candidate.of(
            BACKEND,
            {"model.py": source + "\n"},
            origin=self.name,
            parent=request.proposal.start_point,
            context=tuple(item.item_id for item in request.context),
        )
        return Generation(candidate)


class _Renamed(ast.NodeTransformer):
    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        self.generic_visit(node)
        node.name = "ModelNew" if node.name == "Model" else node.name
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = "ModelNew" if node.id == "Model" else node.id
        return node
