"""Every extension by name, in tables one can read; other packages add to them by entry points."""

from __future__ import annotations

from kernelwright.core.ports import Backend, Generator, Model, Store, Strategy
from kernelwright.core.registry import Registry
from kernelwright.dsl.lower.target import Lowering

BACKENDS: Registry[Backend] = Registry(
    kind="backend",
    group="kernelwright.backends",
    built_in={
        "cpu": "kernelwright.backends.cpu.backend:CpuBackend",
        "ascendc": "kernelwright.backends.ascendc.backend:AscendBackend",
    },
)

GENERATORS: Registry[Generator] = Registry(
    kind="generator",
    group="kernelwright.generators",
    built_in={"offline": "kernelwright.synth.generator:OfflineGenerator"},
)

STRATEGIES: Registry[Strategy] = Registry(
    kind="strategy",
    group="kernelwright.strategies",
    built_in={"evolve": "kernelwright.search.evolve:Evolve"},
)

STORES: Registry[Store] = Registry(
    kind="store",
    group="kernelwright.stores",
    built_in={"sqlite": "kernelwright.store.sqlite:SqliteStore"},
)

MODELS: Registry[Model] = Registry(kind="model", group="kernelwright.models", built_in={})

LOWERINGS: Registry[Lowering] = Registry(
    kind="lowering",
    group="kernelwright.lowerings",
    built_in={"cpp": "kernelwright.dsl.lower.target:CppLowering"},
)
