"""The pure pieces of the CPU backend: declarations, flags, messages, facts, profile, knowledge."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.backends.build_cache import BuildCache, Library
from kernelwright.backends.cpu.declarations import kernels_in
from kernelwright.backends.cpu.parts import complaint_about
from kernelwright.backends.cpu.profiling import profile_of
from kernelwright.backends.cpu.static_facts import facts_of, forbidden_symbols
from kernelwright.backends.cpu.toolchain import Compiled
from kernelwright.backends.cpu.vector_extensions import this_processor
from kernelwright.backends.diagnostics import MOST_CHARACTERS, cleaned
from kernelwright.backends.seed_knowledge import seed_items
from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import RecordUnreadable
from kernelwright.core.execution import Build, Failure
from kernelwright.core.memory_item import MemoryKind
from kernelwright.core.profile import Bottleneck
from kernelwright.core.verdict import Category, Latency, LatencySource


def declared(source: str) -> list[tuple[str, list[tuple[str, str, bool, bool]]]]:
    return [
        (kernel.name, [(p.name, p.ctype, p.is_pointer, p.is_const) for p in kernel.parameters])
        for kernel in kernels_in([("kernel.cpp", source)])
    ]


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("const float* __restrict__ x", ("x", "float", True, True)),
        ("float* __restrict x", ("x", "float", True, False)),
        ("unsigned char const* x", ("x", "uint8_t", True, True)),
        ("long long n", ("n", "int64_t", False, False)),
        ("std::int64_t n", ("n", "int64_t", False, False)),
        ("f32 x[]", ("x", "float", True, False)),
        ("half_t* x", ("x", "uint16_t", True, False)),
        ("bool flag", ("flag", "bool", False, False)),
        ("double", ("#1", "double", False, False)),
        ("const void* x", ("x", "void", True, True)),
    ],
)
def test_a_parameter_is_read_as_cpp_means_it(
    parameter: str, expected: tuple[str, str, bool, bool]
) -> None:
    source = (
        f'using f32 = float;\ntypedef unsigned short half_t;\nextern "C" void f({parameter}) {{}}'
    )
    assert declared(source) == [("f", [expected])]


def test_only_functions_with_a_c_abi_are_kernels() -> None:
    source = """
// extern "C" void in_a_comment(float* x);
const char* text = "extern \\"C\\" void in_a_string(float* x);";
void cpp(float* x) {}
extern "C" {
static void hidden(float* x) {}
void seen(float* x);
}
extern "C" __attribute__((visibility("default"))) void decorated(float* x) noexcept {}
extern "C" void nothing(void) {}
"""
    assert [name for name, _ in declared(source)] == ["seen", "decorated", "nothing"]


@pytest.mark.parametrize(
    "parameter", ["float** x", "const float& x", "std::vector<float> x", "struct Shape s", "..."]
)
def test_a_parameter_that_python_cannot_pass_is_complained_about(parameter: str) -> None:
    (kernel,) = kernels_in([("kernel.cpp", f'extern "C" void f({parameter}) {{}}')])
    assert kernel.complaint.startswith("parameter 1 of f")


def test_flags_follow_what_the_processor_has(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("model name\t: Old One\nflags\t\t: fpu sse2 avx avx2 fma\n\nprocessor: 1\n")
    old = this_processor(info)
    assert (old.model, old.vector_bits) == ("Old One", 256)
    assert old.flags == ("-mavx", "-mavx2", "-mfma")
    info.write_text("model name\t: New One\nflags\t\t: sse2 avx avx2 avx512f avx512bw\n")
    assert "-mavx512bw" in this_processor(info).flags
    assert this_processor(info).vector_bits == 512


def test_a_machine_without_cpuinfo_gets_no_vector_flags(tmp_path: Path) -> None:
    assert this_processor(tmp_path / "missing").flags == ()


GCC = """\
In file included from kernel.cpp:2:
/tmp/build-x/row.h: In function 'void row(float*)':
/tmp/build-x/row.h:3:5: warning: unused variable 'z' [-Wunused]
    3 |     int z;
/tmp/build-x/row.h:9:7: error: 'expf' was not declared in this scope
    9 |     expf(1);
      |     ^~~~
/usr/include/c++/12/cmath:10:1: note: declared here
compilation terminated.
"""


def test_errors_come_first_and_folders_and_warnings_go() -> None:
    text = cleaned(GCC)
    assert text.startswith("row.h:9:7: error: 'expf' was not declared")
    assert "cmath:10:1: note: declared here" in text
    assert "/" not in text.replace("// ", "")
    assert "warning" not in text


def test_a_flood_of_errors_is_cut_at_a_line() -> None:
    text = cleaned("\n".join(f"kernel.cpp:{i}:1: error: no {i}" for i in range(1000)))
    assert len(text) <= MOST_CHARACTERS
    assert text.startswith("kernel.cpp:0:1: error: no 0\n")
    assert text.endswith("[more left out]")


def test_a_linkers_message_is_kept() -> None:
    text = cleaned(
        "/usr/bin/ld: /tmp/ccAbCd12.o: in function `f':\n"
        "kernel.cpp:(.text+0x4): undefined reference to `other(int)'\n"
    )
    assert "undefined reference to `other(int)'" in text
    assert "ccAbCd12" not in text


def compiled(*symbols: str, disassembly: str = "") -> Compiled:
    listing = "\n".join(f"                 U {symbol}" for symbol in symbols)
    return Compiled(b"x", listing, disassembly)


@pytest.mark.parametrize(
    "symbol",
    [
        "expf@GLIBC_2.27",
        "GOMP_parallel@GOMP_4.0",
        "_ZGVdN8v_expf@GLIBC_2.22",
        "memcpy@GLIBC_2.14",
        "_Znwm@GLIBCXX_3.4",
        "_ZSt20__throw_length_errorPKc@GLIBCXX_3.4",
        "__cxa_finalize@GLIBC_2.2.5",
        "__stack_chk_fail@GLIBC_2.4",
        "fmaxf@GLIBC_2.2.5",
        "lroundf@GLIBC_2.2.5",
        "aligned_alloc@GLIBC_2.16",
    ],
)
def test_mathematics_memory_and_openmp_may_be_called(symbol: str) -> None:
    assert forbidden_symbols(compiled(symbol)) is None


@pytest.mark.parametrize(
    "symbol",
    [
        "system@GLIBC_2.2.5",
        "dlsym@GLIBC_2.34",
        "cblas_sgemm",
        "pthread_create@GLIBC_2.34",
        "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
        "_ZNSt6chrono3_V212steady_clock3nowEv@GLIBCXX_3.4.19",
        "clock_gettime@GLIBC_2.17",
        "syscall@GLIBC_2.2.5",
        "fopen@GLIBC_2.2.5",
        "_ZN2at7softmaxERKNS_6TensorEl",
    ],
)
def test_anything_else_may_not(symbol: str) -> None:
    failure = forbidden_symbols(compiled("expf", symbol))
    assert failure is not None
    assert failure.category is Category.HACK
    assert symbol.split("@")[0] in failure.reason


@pytest.mark.parametrize(
    ("line", "bits"),
    [
        ("  10:\tvfmadd231ps %ymm0,%ymm1,%ymm2", 256),
        ("  10:\tvmulps (%rax),%zmm1,%zmm2", 512),
        ("  10:\tmulps  %xmm1,%xmm2", 128),
        ("  10:\tvmovups %zmm0,(%rax)", 512),
        ("  10:\tvmulss %xmm0,%xmm1,%xmm2", 0),
        ("  10:\tvxorps %xmm0,%xmm0,%xmm0", 0),
        ("  10:\tmovaps %xmm0,(%rsp)", 0),
        ("  10:\tpush   %rbp", 0),
    ],
)
def test_vector_width_is_that_of_the_arithmetic(line: str, bits: int) -> None:
    facts = dict(facts_of(compiled(disassembly=line)))
    assert facts["vector_bits"] == str(bits)
    assert facts["vectorised"] == ("yes" if bits else "no")


def profile(duration_us: float, **facts: str):  # type: ignore[no-untyped-def]
    build = Build(Candidate.of("cpu", {}), (), tuple(facts.items()))
    latency = Latency(duration_us, duration_us, 0.0, LatencySource.MEASURED)
    return profile_of(build, latency, bytes_moved=10_000_000, ceiling_gbps=10.0, machine_bits=512)


@pytest.mark.parametrize(
    ("duration_us", "facts", "bottleneck", "words"),
    [
        (1500.0, {"vectorised": "yes"}, Bottleneck.MEMORY, "67% of the copy bandwidth"),
        (5000.0, {"vectorised": "no"}, Bottleneck.SCALAR, "nothing is vectorised"),
        (
            5000.0,
            {
                "vectorised": "yes",
                "scalar_math": "expf",
                "instructions": "300",
                "vector_instructions": "6",
            },
            Bottleneck.SCALAR,
            "expf",
        ),
        (
            5000.0,
            {
                "vectorised": "yes",
                "scalar_math": "exp",
                "instructions": "900",
                "vector_instructions": "230",
                "vector_bits": "256",
            },
            Bottleneck.VECTOR,
            "256-bit vectors",
        ),
        (5000.0, {}, Bottleneck.UNKNOWN, "20% of the copy bandwidth"),
    ],
)
def test_a_profile_diagnoses_by_bandwidth_first_and_facts_next(
    duration_us: float, facts: dict[str, str], bottleneck: Bottleneck, words: str
) -> None:
    found = profile(duration_us, **facts)
    assert found.bottleneck is bottleneck
    assert words in found.advice


def test_a_cache_keeps_builds_and_lasting_failures_only(tmp_path: Path) -> None:
    cache = BuildCache(tmp_path / "builds")
    assert cache.find("a") is None
    library = Library({"kernel.so": b"\x7fELF", "inline/x.so": b"2"}, (("openmp", "yes"),))
    wrong = Failure(Category.COMPILE_ERROR, "kernel.cpp:1: error")
    cache.keep("a", library)
    cache.keep("a", library)
    cache.keep("b", wrong)
    cache.keep("c", Failure(Category.TIMEOUT, "the compiler timed out"))
    assert cache.find("a") == library
    assert cache.find("b") == wrong
    assert cache.find("c") is None
    assert sorted(entry.name for entry in (tmp_path / "builds").iterdir()) == ["a", "b"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"kernel.cpp": ""}, "no part model.py"),
        ({"model.py": ""}, "no part kernel.cpp"),
        ({"kernel.cpp": "", "model.py": "", "a b.h": ""}, "no name for a part"),
        ({"kernel.cpp": "", "model.py": "", "kernel_ops.py": ""}, "generated"),
        ({"kernel.cpp": "", "model.py": "", "run.sh": ""}, "no part of a CPU candidate"),
        ({"kernel.cpp": "x" * (1 << 20) + "x", "model.py": ""}, "larger than"),
    ],
)
def test_parts_that_do_not_make_a_candidate_are_named(files: dict[str, str], words: str) -> None:
    failure = complaint_about(Candidate.of("cpu", files))
    assert failure is not None
    assert failure.category is Category.FORMAT
    assert words in failure.reason


def test_knowledge_has_api_and_practice_items_with_schedule_hints() -> None:
    items = seed_items("cpu")
    assert {item.kind for item in items} == {MemoryKind.API, MemoryKind.PRACTICE}
    assert all(item.backend == "cpu" and item.title and len(item.body) > 100 for item in items)
    assert len({item.item_id for item in items}) == len(items) >= 8
    assert ("stream", "yes") in {choice for item in items for choice in item.schedule}


def test_a_knowledge_file_without_a_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.md").write_text("just text")
    with pytest.raises(RecordUnreadable, match="broken.md"):
        seed_items("cpu", tmp_path)
