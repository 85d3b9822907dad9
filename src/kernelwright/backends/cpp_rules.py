"""Static rules for a candidate's C++: arithmetic, memory and OpenMP; nothing of the system.

The symbols of the built library are checked again (`static_facts.forbidden_symbols`), so a macro
that hides a name gains nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tree_sitter import Node

from kernelwright.backends.cpp_syntax import parsed, text_of, walked
from kernelwright.core.execution import Finding

HEADERS = frozenset(
    (
        "algorithm array bit bitset cassert cctype cfenv cfloat climits cmath complex cstddef"
        " cstdint cstdio cstdlib cstring functional initializer_list iterator limits memory"
        " numeric tuple type_traits utility vector valarray deque queue stack map set"
        " unordered_map unordered_set string optional variant span numbers concepts new"
        " assert.h complex.h float.h limits.h math.h stdalign.h stdbool.h stddef.h stdint.h"
        " stdio.h stdlib.h string.h omp.h immintrin.h x86intrin.h emmintrin.h xmmintrin.h"
        " pmmintrin.h smmintrin.h tmmintrin.h arm_neon.h arm_sve.h stdfloat execution ranges"
    ).split()
)
"""Headers that may be included."""

SYSTEM_CALLS = frozenset(
    (
        "system popen fork vfork clone execl execv execve execvp execlp dlopen dlsym dlmopen open"
        " openat creat fopen freopen fdopen tmpfile mmap mprotect socket connect send recv ptrace"
        " syscall kill raise signal sigaction setenv putenv getenv secure_getenv pthread_create"
        " usleep nanosleep sleep clock clock_gettime gettimeofday time exit _exit quick_exit"
        " atexit on_exit prctl sched_setaffinity shm_open gets scanf fscanf fread fgets remove"
        " rename unlink omp_get_wtime PyRun_SimpleString"
    ).split()
)
"""Functions of the system that a kernel has no use for."""

_TYPES = re.compile(
    r"\b(?:std\s*::\s*)?(?:j?thread|async|future|promise|ifstream|ofstream|fstream|filebuf"
    r"|filesystem|chrono|random_device|condition_variable|mutex)\b"
)
_TORCH = frozenset({"at", "torch", "c10", "py", "pybind11", "cblas", "mkl", "dnnl"})
_BINDING_HEADERS = re.compile(r"(?:torch|ATen|c10)/[\w/]+\.h")
_BINDING_NAMES = re.compile(
    r"(?:Tensor|TensorOptions|empty|empty_like|empty_strided|zeros|zeros_like|full|full_like"
    r"|k\w+|ScalarType|IntArrayRef|ArrayRef|optional|nullopt|Half|BFloat16|Device|Layout|dtype"
    r"|device|parallel_for|get_num_threads|vec\w*|MemoryFormat|Scalar|toString|RecordFunction"
    r"|TensorBase|TensorAccessor|\w*_cast|DeviceType|PrivateUse1)\b"
)
_TENSOR_METHODS = frozenset(
    (
        "abs add add_ addmm amax amin argmax argmin baddbmm bmm cat ceil clamp clamp_ conv1d conv2d"
        " cos cumprod cumsum div div_ dot erf exp exp_ floor gather gelu index_select layer_norm"
        " linear log log_softmax logsumexp matmul maximum mean minimum mm mul mul_ mv neg norm"
        " pow prod reciprocal relu relu_ rsqrt scatter sigmoid sigmoid_ sin softmax sort sqrt std"
        " sub sub_ sum tanh tanh_ topk tril triu var where item"
    ).split()
)
_ASSEMBLY = re.compile(
    r"\b(?:syscall|sysenter|int\s+\$?0x80|svc|rdtscp?|rdpmc|call[qlw]?|blr?|cpuid)\b|jmpq?\s+\*"
    r"|[fg]s:|\.(?:byte|[248]byte|word|short|long|int|quad|octa|ascii|incbin|section|pushsection"
    r"|text|globl|symver|type)\b"
)
_MACHINE = re.compile(
    r"_DYNAMIC|_*(?:rdtscp?|rdpmc|builtin_ia32_rd(?:tscp?|pmc)|builtin_readcyclecounter"
    r"|builtin_(?:return|frame|extract_return)_addr(?:ess)?|builtin_apply(?:_args)?"
    r"|GLOBAL_OFFSET_TABLE_|ehdr_start|r_debug|environ|dso_handle)"
)
_ATTRIBUTES = re.compile(r"\b_*(?:constructor|destructor|section|alias|ifunc|symver|weakref)_*\b")
_MACRO_LIBRARY = re.compile(r"\b(?:at|torch|c10|py|pybind11|cblas\w*)\b|##")
_FUNCTION_POINTER = re.compile(r"\(\s*(?:\w+\s*::\s*)?\*\s*\w*\s*\)\s*\(")
_BITS = re.compile(r"(?:reinterpret_cast|(?:std::)?bit_cast|static_cast)\s*<(.*)>", re.DOTALL)
_MAPS = re.compile(r"\b(?:unordered_)?map\s*<[^,;{]*(?:\*|uintptr_t)[^,;{]*,")
_NULLS = frozenset({"nullptr", "NULL", "0"})


def screen_cpp(
    path: str, source: str, parts: Mapping[str, str], *, headers: frozenset[str] = HEADERS
) -> tuple[Finding, ...]:
    """Return what the rules find in one C++ part.

    Args:
        path: Its name.
        source: Its text.
        parts: All C++ parts by path.
        headers: What may be included besides them.
    """
    root = parsed(source)
    return _sorted(
        [
            *_includes(root, path, parts, headers=headers),
            *_uses(root, path, is_binding=False),
            *_output_caches(root, path),
            *_machine(root, path),
        ]
    )


def screen_binding(
    path: str, source: str, *, first_line: int = 1, headers: frozenset[str] = HEADERS
) -> tuple[Finding, ...]:
    """Return what the rules find in C++ that binds kernels for Python.

    It may take and allocate tensors, but not compute with them; the operators that it dispatches
    are traced at run time too. `first_line` is where the text starts in its file, `headers` what
    it may include besides PyTorch's.
    """
    root = parsed(source)
    found = _sorted(
        [
            *_includes(root, path, {}, headers=headers, is_binding=True),
            *_uses(root, path, is_binding=True),
            *_tensor_methods(root, path),
            *_output_caches(root, path),
            *_machine(root, path),
            *_macros(root, path),
        ]
    )
    return tuple(replace(item, line=item.line + first_line - 1) for item in found)


def _sorted(found: Sequence[Finding]) -> tuple[Finding, ...]:
    unique = {(item.rule, item.line, item.message): item for item in found}
    return tuple(sorted(unique.values(), key=lambda item: item.line))


def _tensor_methods(root: Node, path: str) -> Iterator[Finding]:
    for node in walked(root):
        if (
            node.type == "field_expression"
            and node.parent
            and node.parent.type == "call_expression"
        ):
            field = node.child_by_field_name("field")
            if field is not None and text_of(field) in _TENSOR_METHODS:
                yield _finding(
                    "torch-compute",
                    path,
                    node,
                    f"`.{text_of(field)}(...)` computes in PyTorch: write the loop",
                )


def _includes(
    root: Node,
    path: str,
    parts: Mapping[str, str],
    *,
    headers: frozenset[str] = HEADERS,
    is_binding: bool = False,
) -> Iterator[Finding]:
    for node in walked(root):
        if node.type != "preproc_include":
            continue
        target = node.child_by_field_name("path")
        text = "" if target is None else text_of(target)
        name = text.strip('<>"')
        is_own = text.startswith('"') and any(part.endswith(name) for part in parts)
        is_own |= is_binding and _BINDING_HEADERS.fullmatch(name) is not None
        if name not in headers and not is_own:
            yield _finding(
                "include",
                path,
                node,
                f"{text} may not be included: use the headers of the standard library and of the"
                " target",
            )


def _uses(root: Node, path: str, *, is_binding: bool) -> Iterator[Finding]:
    for node in walked(root):
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            name = "" if function is None else text_of(function).removeprefix("std::")
            if name.lstrip(":") in SYSTEM_CALLS:
                yield _finding(
                    "system-call", path, node, f"`{name}` asks the system: a kernel only computes"
                )
        elif node.type == "qualified_identifier" or node.type == "using_declaration":
            yield from _qualified(node, path, is_binding=is_binding)
        elif node.type == "linkage_specification":
            yield from _foreign(node, path)


def _qualified(node: Node, path: str, *, is_binding: bool) -> Iterator[Finding]:
    text = text_of(node)
    scope = text.removeprefix("using namespace ").removeprefix("using ").lstrip(":").split("::")[0]
    member = text.rpartition("::")[2]
    is_allowed = is_binding and _BINDING_NAMES.match(member) is not None
    if scope.strip(" ;") in _TORCH and not is_allowed:
        yield _finding(
            "library", path, node, f"`{text[:60]}`: write the computation, do not call a library"
        )
    if text.startswith(("std::", "using", "::std")) and _TYPES.search(text):
        yield _finding(
            "thread-or-file",
            path,
            node,
            f"`{text[:60]}`: no threads but OpenMP's, no files, no clocks",
        )


def _foreign(node: Node, path: str) -> Iterator[Finding]:
    """Complain about names that are declared `extern "C"` without a body and called here."""
    body = node.child_by_field_name("body")
    for member in [] if body is None else [body, *body.children]:
        if member.type == "declaration" and "cblas" in text_of(member):
            yield _finding("library", path, member, "BLAS is not a kernel: write the computation")


def _machine(root: Node, path: str) -> Iterator[Finding]:
    """Find ways round the symbols of the library: machine code, clocks, computed functions."""
    pointers = set(_function_types(root))
    for node in walked(root):
        text = text_of(node)
        if node.type == "gnu_asm_expression" and _ASSEMBLY.search(text):
            what = "assembly that calls, asks the system or a clock, or places data: only compute"
            yield _finding("machine", path, node, what)
        elif node.type in {"identifier", "field_identifier"} and _MACHINE.fullmatch(text):
            yield _finding("machine", path, node, f"`{text}` is no arithmetic: leave it out")
        elif "attribute" in node.type and _ATTRIBUTES.search(text):
            what = f"`{text[:60]}` runs or places code outside the call: a kernel only computes"
            yield _finding("machine", path, node, what)
        elif _casts_to_function(node, pointers):
            what = f"`{text[:60]}` makes a function out of an address: call functions by name"
            yield _finding("machine", path, node, what)


def _function_types(root: Node) -> Iterator[str]:
    for node in walked(root):
        if node.type in {"alias_declaration", "type_definition"}:
            text = text_of(node)
            if _FUNCTION_POINTER.search(text):
                named = node.child_by_field_name("name")
                if named is None:
                    named = next((c for c in walked(node) if c.type == "type_identifier"), None)
                if named is not None:
                    yield text_of(named)


def _casts_to_function(node: Node, pointers: set[str]) -> bool:
    if node.type == "cast_expression":
        target = node.child_by_field_name("type")
        wanted = "" if target is None else text_of(target)
    elif node.type == "call_expression":
        function = node.child_by_field_name("function")
        called = "" if function is None else text_of(function)
        match = _BITS.fullmatch(called)
        # `(type)(value)` reads like the call of a function: only the name tells them apart.
        wanted = called.strip("() ") if match is None else match[1]
    else:
        return False
    return bool(_FUNCTION_POINTER.search(wanted)) or wanted.strip() in pointers


def _macros(root: Node, path: str) -> Iterator[Finding]:
    """Find macros and aliases that rename a library, which the other rules would not see."""
    for node in walked(root):
        if node.type in {"preproc_def", "preproc_function_def"}:
            value = node.child_by_field_name("value")
            is_hidden = value is not None and _MACRO_LIBRARY.search(text_of(value))
        else:
            is_hidden = node.type == "namespace_alias_definition" and _MACRO_LIBRARY.search(
                text_of(node)
            )
        if is_hidden:
            what = f"`{text_of(node)[:60].strip()}` hides a library behind another name"
            yield _finding("library", path, node, what)


def _output_caches(root: Node, path: str) -> Iterator[Finding]:
    """Find results that are kept from one call to the next, keyed by address."""
    kept: set[str] = set()
    for node in walked(root):
        if node.type == "declaration" and _is_lasting(node):
            if _MAPS.search(text_of(node)):
                yield _finding("output-cache", path, node, _CACHE)
            kept.update(_pointers(node))
    for node in walked(root):
        if node.type == "binary_expression" and kept:
            operator = node.child_by_field_name("operator")
            sides = {text_of(child) for child in node.named_children}
            if (
                operator is not None
                and text_of(operator) == "=="
                and sides & kept
                and not sides & _NULLS
            ):
                yield _finding("output-cache", path, node, _CACHE)


_CACHE = (
    "results kept from an earlier call and looked up by address: other values may lie there now;"
    " compute every call"
)


def _is_lasting(node: Node) -> bool:
    parent = node.parent
    is_global = parent is not None and parent.type in {"translation_unit", "namespace_definition"}
    return is_global or any(
        child.type == "storage_class_specifier" and text_of(child) in {"static", "thread_local"}
        for child in node.children
    )


def _pointers(node: Node) -> Iterator[str]:
    """Yield the names of data pointers that a declaration makes, not those of functions."""
    for child in walked(node):
        if child.type == "pointer_declarator" and "(" not in text_of(child):
            name = next((c for c in walked(child) if c.type == "identifier"), None)
            if name is not None:
                yield text_of(name)


def _finding(rule: str, path: str, node: Node, message: str) -> Finding:
    return Finding(rule, path, node.start_point[0] + 1, message)
