"""The dtype rule of each row of the table."""

from __future__ import annotations

from collections.abc import Callable

from kernelwright.dsl.cast import cast_chain
from kernelwright.dsl.check.context import Context
from kernelwright.dsl.diagnostics import Edit
from kernelwright.dsl.nodes import Expr, Op, View
from kernelwright.dsl.primitive import Builtin, DTypeRule, Kind
from kernelwright.dsl.types import DType


def check_dtypes(context: Context, node: Op, row: Builtin) -> None:
    """Check the element types of an operation's operands.

    Raises:
        Rejected: with E401 to E404.
    """
    _check_kinds(context, node, row)
    RULES[row.dtype](context, node, row)
    _check_scalars(context, node, row)


def _dtype(context: Context, view: View) -> DType:
    return context.buffers[view.buffer].dtype


def _check_kinds(context: Context, node: Op, row: Builtin) -> None:
    for slot, operand in zip(row.slots, node.operands, strict=False):
        if not isinstance(operand, View):
            continue
        dtype = _dtype(context, operand)
        if slot.kind is Kind.MASK and dtype is not DType.MASK:
            raise context.reject(
                "E401",
                operand.at,
                f"{operand.buffer.text} is not a mask",
                numbers=f"it is {dtype}",
                why='masks: tl.cmp writes a buffer of "mask"',
            )
        if slot.kind is Kind.INDEX and dtype is not DType.I32:
            raise context.reject(
                "E401",
                operand.at,
                f"an index is i32, {operand.buffer.text} is {dtype}",
                why="gather: indices count elements, in i32",
            )


def _data_views(node: Op, row: Builtin) -> list[View]:
    kinds = (Kind.BUFFER, Kind.EITHER, Kind.CARRY)
    return [
        operand
        for slot, operand in zip(row.slots, node.operands, strict=False)
        if isinstance(operand, View) and slot.kind in kinds
    ]


def _check_supported(context: Context, node: Op, row: Builtin, view: View) -> None:
    dtype = _dtype(context, view)
    if dtype in row.dtypes:
        return
    if row.name == "cmp" and dtype is DType.I16:
        raise context.reject("E403", node.at, "tl.cmp of i16", why="compare: cast to f32 first")
    why = "dtype rules: the vector unit has no such operation; cast to f32 first"
    if dtype is DType.BF16:
        why = "dtype rules: bf16 has no vector arithmetic on this target; cast to f32 first"
    raise context.reject(
        "E402",
        view.at,
        f"tl.{row.name} of {dtype}",
        numbers=f"element types: {' '.join(row.dtypes)}",
        why=why,
        fix=_through_f32(context, node, row, dtype),
    )


def _through_f32(context: Context, node: Op, row: Builtin, dtype: DType) -> tuple[Edit, ...]:
    """Cast, compute in f32, cast back: two new buffers around a unary or scalar operation."""
    views = _data_views(node, row)
    if (
        dtype not in (DType.BF16, DType.F16)
        or len(views) != 1
        or row.reads_dest
        or DType.F32 not in row.dtypes
        or row.dtype is not DTypeRule.SAME
        or node.dest.index
        or views[0].index
        or _dtype(context, node.dest) is not dtype
        or node.at.line != node.at.end_line
    ):
        return ()
    buffer = context.buffers[node.dest.buffer]
    alloc = context.source.cut(buffer.at)
    if not alloc:
        return ()
    wide = f"{node.dest.buffer.text}_f32"
    shape = alloc.replace(f'"{dtype}"', '"f32"', 1).split(", buf=")[0].rstrip(")") + ")"
    old = context.source.lines[buffer.at.line - 1].strip()
    call = context.source.cut(node.at)
    head, _, rest = call.partition("(")
    inside = rest.split(",", 1)[1].replace(views[0].buffer.text, wide, 1) if "," in rest else ")"
    return (
        Edit(buffer.at.line, f"{old}\n{wide} = {shape}"),
        Edit(
            node.at.line,
            f"tl.cast({wide}, {views[0].buffer.text})\n{head}({wide},{inside}\n"
            f'tl.cast({node.dest.buffer.text}, {wide}, round="rint")',
        ),
    )


def _same(context: Context, node: Op, row: Builtin) -> None:
    views = _data_views(node, row)
    dest = _dtype(context, node.dest)
    for view in views:
        _check_supported(context, node, row, view)
    for view in views:
        if _dtype(context, view) is not dest:
            raise context.reject(
                "E401",
                view.at,
                f"element types differ: {node.dest.buffer.text} is {dest}, "
                f"{view.buffer.text} is {_dtype(context, view)}",
                why="dtype rules: no implicit casts; tl.cast converts",
            )
    if not views:
        _check_supported(context, node, row, node.dest)
    if row.name == "reduce_sum" and dest is DType.F16:
        context.warn(
            "W410",
            node.at,
            "a sum of f16 is accumulated in f16",
            "numerics: 2048 + 1 is 2048 in f16; cast to f32 first",
        )


def _mask(context: Context, node: Op, row: Builtin) -> None:
    views = _data_views(node, row)
    for view in views:
        _check_supported(context, node, row, view)
    if len({_dtype(context, view) for view in views}) > 1:
        raise context.reject(
            "E401",
            node.at,
            "tl.cmp compares equal element types",
            why="dtype rules: no implicit casts; tl.cast converts",
        )
    if _dtype(context, node.dest) is not DType.MASK:
        buffer = context.buffers[node.dest.buffer]
        text = context.source.cut(buffer.at).replace(f'"{buffer.dtype}"', '"mask"', 1)
        raise context.reject(
            "E401",
            node.dest.at,
            f"tl.cmp writes a mask, {node.dest.buffer.text} is {buffer.dtype}",
            why='masks: allocate it as tl.ub(shape, "mask")',
            fix=context.source.replace(buffer.at, text),
        )
    if _dtype(context, views[0]) is DType.I32 and node.attribute("op", "lt") != "eq":
        raise context.reject(
            "E403",
            node.at,
            "i32 compares for equality only",
            why="compare: the vector unit has no other comparison of i32; cast to f32 first where "
            "|v| < 2^24",
        )


def _index(context: Context, node: Op, row: Builtin) -> None:
    views = _data_views(node, row)
    for view in views:
        _check_supported(context, node, row, view)
    if _dtype(context, views[0]) is not _dtype(context, node.dest):
        raise context.reject(
            "E401",
            node.at,
            "tl.gather keeps the element type",
            why="dtype rules: no implicit casts; tl.cast converts",
        )


def _cast(context: Context, node: Op, row: Builtin) -> None:
    view = _data_views(node, row)[0]
    source, dest = _dtype(context, view), _dtype(context, node.dest)
    if source is dest:
        raise context.reject(
            "E404",
            node.at,
            f"a cast from {source} to itself",
            why="casts: tl.copy copies",
            fix=context.source.replace(
                node.at,
                f"tl.copy({context.source.cut(node.dest.at)}, {context.source.cut(view.at)})",
            ),
        )
    if dest is DType.BOOL:
        raise context.reject(
            "E404",
            node.at,
            f"no cast from {source} to bool",
            why="casts: truth is a comparison; tl.cmp and tl.select give 0 and 1",
        )
    if DType.MASK in (source, dest) or cast_chain(source, dest) is None:
        raise context.reject(
            "E404",
            node.at,
            f"no cast from {source} to {dest}",
            why="casts: see the table of the target",
        )
    rounding = node.attribute("round", "none")
    if source.is_float and not dest.is_float and rounding == "none":
        text = context.source.cut(node.at)
        fix = (
            context.source.replace(node.at, text[:-1] + ', round="trunc")')
            if (text.endswith(")") and "round" not in text)
            else ()
        )
        raise context.reject(
            "E404",
            node.at,
            f"a cast from {source} to {dest} needs round=",
            numbers="rint, floor, ceil or trunc",
            why="casts: from float to integer, say how; torch truncates",
            fix=fix,
        )


RULES: dict[DTypeRule, Callable[[Context, Op, Builtin], None]] = {
    DTypeRule.SAME: _same,
    DTypeRule.CAST: _cast,
    DTypeRule.MASK: _mask,
    DTypeRule.INDEX: _index,
}


def _check_scalars(context: Context, node: Op, row: Builtin) -> None:
    """Scalars of integer buffers are integers; those of float buffers may be either."""
    data = _data_views(node, row)
    dtype = _dtype(context, data[0] if data else node.dest)
    if dtype.is_float:
        return
    for slot, operand in zip(row.slots, node.operands, strict=False):
        if slot.kind in (Kind.SCALAR, Kind.EITHER) and not isinstance(operand, View):
            _check_integer(context, operand, dtype)


def _check_integer(context: Context, operand: Expr, dtype: DType) -> None:
    if operand.type is not DType.I64:
        raise context.reject(
            "E401",
            operand.at,
            f"a float scalar with a buffer of {dtype}",
            why="dtype rules: no implicit casts; write an integer",
        )
    value = context.value(operand)
    if not value.is_constant:
        return
    half = 1 << (8 * dtype.item_bytes - 1)
    if not -half <= value.constant < half:
        raise context.reject(
            "E401",
            operand.at,
            f"{value.constant} is no {dtype}",
            numbers=f"{dtype} goes from {-half} to {half - 1}",
            why="dtype rules: a scalar takes the element type of the buffer",
        )
