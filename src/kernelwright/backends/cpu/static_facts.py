"""What a built library says about itself: vector width, OpenMP, size, and what it calls."""

from __future__ import annotations

import re
from collections import Counter

from kernelwright.backends.cpp_rules import SYSTEM_CALLS
from kernelwright.backends.cpu.toolchain import Compiled
from kernelwright.backends.model_rules.torch_names import DISPATCHED
from kernelwright.core.execution import Failure
from kernelwright.core.verdict import Category

_ALLOWED = re.compile(
    r"""^(?:
    GOMP_\w+ | omp_(?!get_wti)\w+ | __kmpc_\w+ | _ZGV\w+ # OpenMP, vector mathematics
    | _Zn[aw]\w* | _Zd[al]\w* | __cxa_\w+ | _Unwind_\w+ | __gxx_\w+ # C++ run time
    | _ZS\w+ | _ZNS\w* | _ZNKS\w* | _ZT[VIS]\w+ | _ZGVNS\w* # standard library, see below
    | _ITM_\w+ | __gmon_start__ | __stack_chk_fail | __tls_get_addr | __dso_handle
    | __\w+_chk | __assert_fail | abort | __errno_location
    | mem(?:cpy|move|set|cmp|r?chr|mem|pcpy)(?:_\w+)? | str\w+
    | malloc | calloc | realloc | free | aligned_alloc | posix_memalign
    | qsort | bsearch | labs | llabs | abs | div | ldiv | puts | putchar | printf | fprintf
    | vfprintf | snprintf | fwrite | fputs | fputc | stderr | stdout
    | (?:a?(?:sin|cos|tan)h? | atan2 | exp[m2]?1? | exp10 | log(?:10|2|1p|b)? | pow | sqrt | cbrt
      | hypot | erfc? | [lt]gamma | ceil | floor | trunc | l?l?round | nearbyint | l?l?rint
      | f(?:abs|dim|max|min|mod|ma) | remainder | remquo | copysign | nan | nextafter | ldexp
      | frexp | modf | scalbl?n | ilogb | sincos | j[01n] | y[01n] | __\w*(?:finite|signbit|isnan
      |isinf|fpclassify)\w* | fe\w+ | drem | significand)[fl]?(?:_r)?(?:16|32|64|128|x)?
    | __(?:add|sub|mul|div|ext|trunc|fix|float)\w+f\w*
    )$""",
    re.VERBOSE,
)
_BANNED_CPP = re.compile(r"thread|filebuf|fstream|filesystem|random_device|chrono|future|mutex")
_VECTOR = re.compile(r"\t(v?[a-z0-9]+)\s+.*%([xyz])mm\d")
_ARITHMETIC = re.compile(
    r"^v?(?:(?:add|sub|mul|div|max|min|sqrt|round|rndscale)p[sdh]|fn?m(?:add|sub)\w*p[sdh]"
    r"|p(?:add|sub|mul|min|max)\w+)$"
)
_REGISTER_BITS = {"x": 128, "y": 256, "z": 512}


_MACHINE = re.compile(r"\t(syscall|sysenter|int +\$0x80|rdtscp?|rdpmc|svc)\b")
_OPERATOR = re.compile(r"_ZN2at4_ops\d+(\w+?)(?:4call|10redispatch)E")
_LIBRARY = re.compile(
    r"_ZNK?2at(?:6native|3cpu|10redispatch|24compositeimplicitautograd|24compositeexplicitautograd"
    r"|21_ops_dispatch)|_ZNK?3c10(?:10Dispatcher|14OperatorHandle)|_ZNK?5torch(?:3jit|2nn|3api)"
    r"|(?:cblas|mkl|dnnl|blas|lapack|openblas|sgemm|dgemm)\w*|[sdcz](?:ge|sy|tr|he)\w*_$"
    r"|_ZN?K?4dnnl|_ZNK?6mkldnn|PyRun_\w+|PyEval_EvalCode\w*|Py_CompileString\w*"
)


def forbidden_symbols(compiled: Compiled) -> Failure | None:
    """Return a failure if the library asks the system for something that is no computation.

    The source is screened before; this sees also what macros and token pasting have hidden.
    """
    named = sorted({name for name in _undefined(compiled.symbols) if not _is_allowed(name)})
    if not named:
        return _machine_code(compiled.disassembly)
    return Failure(
        Category.HACK,
        f"the library calls {', '.join(named[:8])}: a kernel may use the mathematics, memory and"
        " OpenMP functions of the standard library only; remove the call",
    )


def inline_symbols(symbols: str) -> Failure | None:
    """Return a failure if a library that links PyTorch also asks the system for more."""
    undefined = set(_undefined(symbols))
    named = sorted(undefined & SYSTEM_CALLS)
    named += sorted(name for name in undefined if _LIBRARY.match(name) or _computes(name))
    if not named:
        return None
    return Failure(
        Category.HACK,
        f"the library calls {', '.join(named[:8])}: a kernel only computes; remove the call",
    )


def _machine_code(disassembly: str) -> Failure | None:
    found = _MACHINE.search(disassembly)
    if found is None:
        return None
    what = f"the library has the instruction `{found[1]}`: a kernel only computes; remove it"
    return Failure(Category.HACK, what)


def _computes(symbol: str) -> bool:
    """Whether a mangled name is an operator of PyTorch that does more than allocate or view."""
    found = _OPERATOR.match(symbol)
    if found is None:
        return False
    name = found[1]
    known = {operator.removeprefix("aten::") for operator in DISPATCHED}
    return not any(name == one or name.startswith(f"{one}_") for one in known)


def facts_of(compiled: Compiled) -> tuple[tuple[str, str], ...]:
    """Return the static facts as (name, value): `vector_bits` is 0 where nothing is vectorised."""
    facts = [("library_bytes", str(len(compiled.library)))]
    symbols = _undefined(compiled.symbols)
    facts.append(("openmp", _yes(any(s.startswith(("GOMP_", "__kmpc_")) for s in symbols))))
    facts.append(("vector_math", _yes(any(s.startswith("_ZGV") for s in symbols))))
    scalar_math = sorted(s for s in symbols if re.fullmatch(r"(?:exp|erf|tanh|log|pow)f?", s))
    if scalar_math:
        facts.append(("scalar_math", " ".join(scalar_math)))
    if compiled.disassembly:
        packed, total, calls = _counted(compiled.disassembly)
        bits = max((width for width, count in packed.items() if count), default=0)
        facts.append(("instructions", str(total)))
        facts.append(("vector_instructions", str(sum(packed.values()))))
        facts.append(("vector_bits", str(bits)))
        facts.append(("vectorised", _yes(bits > 0)))
        facts.append(("calls", str(calls)))
    return tuple(facts)


def _undefined(symbols: str) -> list[str]:
    return [line.split()[-1].split("@")[0] for line in symbols.splitlines() if line.split()]


def _is_allowed(symbol: str) -> bool:
    if symbol.startswith("_Z") and _BANNED_CPP.search(symbol):
        return False
    return _ALLOWED.fullmatch(symbol) is not None


def _counted(disassembly: str) -> tuple[Counter[int], int, int]:
    """Count packed vector instructions by width, all instructions, and calls."""
    packed: Counter[int] = Counter()
    total = calls = 0
    for line in disassembly.splitlines():
        if "\t" not in line:
            continue
        total += 1
        calls += "\tcall" in line
        match = _VECTOR.search(line)
        if match is None:
            continue
        width = max(_REGISTER_BITS[r] for r in re.findall(r"%([xyz])mm\d", line))
        # 128-bit moves also carry scalars and structures: only wider ones show vectorisation.
        if _ARITHMETIC.match(match[1]) or (width > 128 and "mov" in match[1]):
            packed[width] += 1
    return packed, total, calls


def _yes(claim: bool) -> str:
    return "yes" if claim else "no"
