"""The lowering to C++: a host function and its kernels as one file with a plain C entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files

from kernelwright.dsl.bind import Number, bind
from kernelwright.dsl.check.binding import host_statements
from kernelwright.dsl.emit.apart import Extent, apart_lines
from kernelwright.dsl.emit.host import HostPrinter, TensorText
from kernelwright.dsl.emit.kernel import kernel_lines
from kernelwright.dsl.emit.lanes import CPP_TYPE
from kernelwright.dsl.host_nodes import (
    Empty,
    Host,
    HostAssign,
    Launch,
    Program,
    Reshape,
    Return,
    Tensor,
    TensorRef,
)
from kernelwright.dsl.lower.again import Again
from kernelwright.dsl.lower.fuse import fused
from kernelwright.dsl.lower.keep import Keeper
from kernelwright.dsl.lower.live import live_after
from kernelwright.dsl.lower.normal import normalised
from kernelwright.dsl.lower.signature import Argument, CppFiles, Role, Signature
from kernelwright.dsl.lower.specialise import checked_kernel
from kernelwright.dsl.lower.widen import widened
from kernelwright.dsl.nodes import (
    ConstParam,
    Kernel,
    Literal,
    Param,
    Ref,
    RefKind,
    ScalarParam,
    TensorParam,
    stored_tensors,
)
from kernelwright.dsl.types import DType, Name

PRELUDE = ("vector.h", "math.h", "whole.h")

MARK = "// --- the program "


def lower_cpp(
    program: Program,
    name: str,
    schedule: Mapping[str, int] | None = None,
    consts: Mapping[str, Number] | None = None,
) -> CppFiles:
    """Print a host function, or a kernel on its own, of a checked program as C++.

    The entry is `extern "C" void NAME_host(...)`: pointers to the tensor parameters in order,
    pointers to the outputs, then every dimension name as int64_t, then the scalar parameters as
    int64_t or double; see `Signature`. Of a kernel, the last scalar is the number of cores.

    Args:
        schedule: Values of schedule holes; of a kernel, values of its compile-time parameters.
        consts: Values of the host function's compile-time parameters; others take their defaults.

    Raises:
        LaunchRefused: where a compile-time parameter has no value (E101) or a hole a wrong one.
        UsageMistake: where a schedule makes a kernel wrong.
    """
    hosts = {host.name.text: host for host in program.hosts}
    values = {**(schedule or {})}
    host = hosts[name] if name in hosts else _host_of(program.kernel(name), values)
    given = {
        param.name.text: (consts or {}).get(param.name.text, param.default)
        for param in host.params
        if isinstance(param, ConstParam)
    }
    known = {text: value for text, value in given.items() if value is not None}
    return _Lowering(program, host, dict(values), known).files()


def _host_of(kernel: Kernel, consts: Mapping[str, Number]) -> Host:
    """A host function that launches a kernel on the cores it is told."""
    cores = ScalarParam(Name("0cores"), DType.I64)
    given: list[tuple[Name, TensorRef | Ref | Literal]] = []
    for param in kernel.params:
        match param:
            case TensorParam(name=name):
                given.append((name, TensorRef(name)))
            case ScalarParam(name=name, type=kind):
                given.append((name, Ref(name, RefKind.PARAM, kind)))
            case ConstParam(name=name):
                if name.text in consts:
                    value = consts[name.text]
                    kind = DType.F32 if isinstance(value, float) else DType.I64
                    given.append((name, Literal(value, kind)))
    params: tuple[Param, ...] = (*kernel.tensors, *kernel.scalars, cores)
    launch = Launch(kernel.name, Ref(cores.name, RefKind.PARAM, DType.I64), tuple(given), kernel.at)
    body = (launch, Return((), kernel.at))
    return Host(kernel.name, params, kernel.dims, (), body, at=kernel.at)


@dataclass(slots=True)
class _Lowering:
    program: Program
    host: Host
    schedule: dict[str, int]
    consts: dict[str, Number]
    functions: dict[tuple[Name, tuple[tuple[str, Number], ...]], str] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)

    def files(self) -> CppFiles:
        """Print everything."""
        roots = self._returned()
        outputs = {name: f"out{number}" for number, name in enumerate(roots) if name is not None}
        outputs = {name: out for name, out in outputs.items() if not self._is_param(name)}
        printer = HostPrinter(
            self.host,
            {kernel.name: kernel for kernel in self.program.kernels},
            self.schedule,
            outputs,
            self._function,
            dict(self.consts),
        )
        for param in self.host.params:
            if isinstance(param, TensorParam):
                dims = tuple(printer.text(dim) for dim in param.type.dims)
                printer.tensors[param.name] = TensorText(str(param.name), param.type.dtype, dims)
        body = printer.block(self.host.body)
        signature = self._signature(roots)
        entry = _entry(
            signature, [*printer.declared.values()], body, self._extents(signature, printer)
        )
        text = "\n".join([_prelude(), MARK + "-" * 60, *self.printed, *entry, ""])
        return CppFiles({"kernel.cpp": text}, signature)

    def _function(self, kernel: Kernel, consts: Mapping[str, Number]) -> str:
        """The C++ function of a kernel under these values, printed at its first use."""
        key = (kernel.name, tuple(sorted(consts.items())))
        if key not in self.functions:
            name = f"k{len(self.functions)}_{kernel.name.text}"
            self.functions[key] = name
            bound = bind(checked_kernel(kernel, consts), consts)
            stored = stored_tensors(bound)
            plan = Again(stored).plan(fused(widened(normalised(bound.body))))
            types = {item.name: item.dtype for item in bound.buffers}
            keeper = Keeper(types, stored, live_after(plan))
            plan = keeper.plan(plan)
            bound = replace(bound, buffers=(*bound.buffers, *keeper.made))
            self.printed += kernel_lines(bound, name, plan)
        return self.functions[key]

    # --- signature -------------------------------------------------------------------------------

    def _is_param(self, name: Name) -> bool:
        return any(param.name == name for param in self.host.params)

    def _returned(self) -> list[Name | None]:
        """For each returned tensor the name that holds its memory; None where that depends."""
        last = self.host.body[-1]
        assert isinstance(last, Return)
        found: list[Name | None] = []
        for value in last.values:
            root = self._root(value)
            found.append(root if root not in found or root is None else None)
        return found

    def _root(self, value: Tensor) -> Name | None:
        match value:
            case Reshape(source=source):
                return self._root(source)
            case TensorRef(name=name) if self._is_param(name):
                return name
            case TensorRef(name=name):
                made = [
                    item
                    for item in host_statements(self.host.body)
                    if isinstance(item, HostAssign) and item.name == name
                ]
                if len(made) != 1 or made[0] not in self.host.body:
                    return None
                inner = made[0].value
                if isinstance(inner, Empty):
                    return name
                return self._root(inner) if isinstance(inner, Reshape | TensorRef) else None
        return None

    def _signature(self, roots: list[Name | None]) -> Signature:
        written = self._written()
        arguments = [
            Argument(p.name.text, Role.TENSOR, p.type.dtype, p.type.dims, p.name in written)
            for p in self.host.params
            if isinstance(p, TensorParam)
        ]
        returns: list[str] = []
        for number, (root, kind) in enumerate(zip(roots, self.host.returns, strict=True)):
            if root is not None and self._is_param(root):
                returns.append(root.text)
                continue
            returns.append(f"out{number}")
            arguments.append(Argument(f"out{number}", Role.OUTPUT, kind.dtype, kind.dims, True))
        arguments += [Argument(dim.text, Role.DIM, DType.I64) for dim in self.host.dims]
        arguments += [
            Argument(p.name.text, Role.SCALAR, p.type, default=p.default)
            for p in self.host.params
            if isinstance(p, ScalarParam)
        ]
        name = f"{self.host.name.text}_host"
        return Signature(
            name, tuple(arguments), tuple(returns), dict(self.consts), self.host.params
        )

    def _extents(self, signature: Signature, printer: HostPrinter) -> list[Extent]:
        """Where the tensors of a call lie."""
        at = {param.name.text: param.at.line for param in self.host.params}
        found: list[Extent] = []
        for item in signature.arguments:
            if item.role in (Role.TENSOR, Role.OUTPUT):
                dims = [f"({printer.text(dim)})" for dim in item.dims]
                size = " * ".join(["(int64_t)1", *dims, f"(int64_t)sizeof({CPP_TYPE[item.dtype]})"])
                line = at.get(item.name, self.host.at.line)
                found.append(Extent(_own(item), size, item.is_written, line))
        return found

    def _written(self) -> frozenset[Name]:
        """Tensor parameters that some launch stores to."""
        kernels = {kernel.name: kernel for kernel in self.program.kernels}
        aliases: dict[Name, Name] = {}
        found: set[Name] = set()
        for item in host_statements(self.host.body):
            if isinstance(item, HostAssign):
                if isinstance(item.value, TensorRef | Reshape):
                    aliases[item.name] = _base(item.value, aliases)
                continue
            stored = stored_tensors(kernels[item.kernel])
            for name, value in item.arguments:
                if name in stored and isinstance(value, TensorRef | Reshape):
                    found.add(_base(value, aliases))
        return frozenset(found)


def _base(value: TensorRef | Reshape, aliases: Mapping[Name, Name]) -> Name:
    ref = value.source if isinstance(value, Reshape) else value
    return aliases.get(ref.name, ref.name)


def _own(item: Argument) -> str:
    """The name of an argument in C++: an output's is ours, every other the author's, mangled."""
    return item.name if item.role is Role.OUTPUT else str(Name(item.name))


def _entry(
    signature: Signature, declared: list[str], body: list[str], extents: list[Extent]
) -> list[str]:
    """The function that does or checks the work, and the three that are exported."""
    full: list[str] = []
    numbers: list[str] = []
    inner: list[str] = []
    for item in signature.arguments:
        if item.role in (Role.TENSOR, Role.OUTPUT):
            own = _own(item)
            const = "" if item.is_written else "const "
            inner.append(f"{CPP_TYPE[item.dtype]}* {own}")
            full.append(f"{const}{_abi(item.dtype)}* {own}")
        else:
            kind = "double" if item.dtype is DType.F32 else "int64_t"
            numbers.append(f"{kind} {Name(item.name)}")
    pointers = [text.rsplit(" ", 1)[1] for text in inner]
    cast = [f"({text.rsplit(' ', 1)[0]}){text.rsplit(' ', 1)[1]}" for text in inner]
    values = [text.rsplit(" ", 1)[1] for text in numbers]
    run = f"run_{signature.name}"
    shared = f"shared_{signature.name}({', '.join([*pointers, *values])})"
    both = ", ".join([*(f"const void* {pointer}" for pointer in pointers), *numbers])
    return [
        *apart_lines(signature.name, extents, numbers),
        f"static int64_t {run}({', '.join([*inner, *numbers, 'bool is_dry'])}) {{",
        *(f"  {line}" for line in (*declared, *body)),
        "}",
        f'extern "C" void {signature.name}({", ".join([*full, *numbers])}) {{',
        f"  if ({shared} == 0) {run}({', '.join([*cast, *values, 'false'])});",
        "}",
        f'extern "C" void {signature.name}_check({", ".join([*numbers, "int64_t* line"])}) {{',
        f"  *line = {run}({', '.join([*('nullptr' for _ in pointers), *values, 'true'])});",
        "}",
        f'extern "C" void {signature.name}_apart({both}{", " if both else ""}int64_t* line) {{',
        f"  *line = {shared};",
        "}",
    ]


def _abi(dtype: DType) -> str:
    """The pointer's type at the C boundary: bf16 goes as its bits."""
    return "uint16_t" if dtype is DType.BF16 else CPP_TYPE[dtype].replace("f16", "_Float16")


@cache
def _prelude() -> str:
    folder = files("kernelwright.dsl.emit").joinpath("prelude")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in PRELUDE)


def program_text(lowered: CppFiles) -> str:
    """The part of `kernel.cpp` that was printed from the program, without the fixed beginning."""
    text = lowered.files["kernel.cpp"]
    return text[text.index(MARK) :]
