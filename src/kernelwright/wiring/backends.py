"""Making backends, generators and strategies by name, with what they need to work."""

from __future__ import annotations

from kernelwright.core.ports import Backend, Generator, Strategy
from kernelwright.engine.events import Listener, Preparing, silent
from kernelwright.sandbox import Limits, Sandbox
from kernelwright.sandbox.module_client import Timeouts
from kernelwright.wiring.registries import BACKENDS, GENERATORS, STRATEGIES
from kernelwright.wiring.settings import Settings, cache_folder

_LIFE_S = 3600.0
"""Seconds for all runs of one candidate together; each request has its own limit."""


def make_backend(
    name: str, settings: Settings, sandbox: Sandbox, *, tell: Listener = silent
) -> Backend:
    """Make a backend; a plugin's factory is called with the sandbox and a cache folder.

    Raises:
        UnknownName: if there is none of that name.
        ToolchainMissing: if it needs a toolchain that this machine lacks.
    """
    factory = BACKENDS.factory(name)
    folder = cache_folder() / name
    if name == "cpu":
        wall_s, threads = settings.sandbox.wall_s, settings.cpu.threads
        return factory(
            sandbox,
            cache_folder=folder,
            compiler=settings.cpu.compiler,
            threads=threads,
            limits=Limits(
                wall_s=_LIFE_S,
                cpu_s=_LIFE_S * threads,
                memory_bytes=settings.sandbox.memory_bytes,
                processes=threads,
            ),
            timeouts=Timeouts(wall_s, wall_s, wall_s, wall_s),
        )
    if name == "ascendc":
        wall_s = max(settings.sandbox.wall_s, settings.ascendc.wall_s)
        return factory(
            sandbox,
            cache_folder=folder,
            chip=settings.ascendc.chip,
            limits=Limits(
                wall_s=_LIFE_S,
                cpu_s=_LIFE_S,
                memory_bytes=settings.sandbox.memory_bytes,
                processes=1,
            ),
            timeouts=Timeouts(wall_s, wall_s, wall_s, wall_s),
            options={"strict_sync": settings.ascendc.strict_sync},
            progress=lambda words: tell(Preparing(f"once on this machine: {words}")),
        )
    return factory(sandbox, cache_folder=folder)


def make_generator(name: str, sandbox: Sandbox) -> Generator:
    """Make a generator; its factory is called with the sandbox.

    Raises:
        UnknownName: if there is none of that name.
    """
    return GENERATORS.factory(name)(sandbox)


def make_strategy(name: str) -> Strategy:
    """Make a strategy with its defaults.

    Raises:
        UnknownName: if there is none of that name.
    """
    return STRATEGIES.factory(name)()
