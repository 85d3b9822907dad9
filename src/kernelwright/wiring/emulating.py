"""Running an Ascend C project on the emulated chip, for people who have no task file."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kernelwright.backends.ascendc.backend import AscendBackend
from kernelwright.backends.ascendc.device_module import DeviceModule
from kernelwright.backends.ascendc.device_rules import screen_device
from kernelwright.core.candidate import Candidate
from kernelwright.core.errors import UsageMistake
from kernelwright.core.execution import Call, Failure, Returned
from kernelwright.core.fault import Fault, Severity
from kernelwright.core.fingerprint import Json
from kernelwright.core.tensor import Tensor, leaves
from kernelwright.emulator.project import (
    KERNEL,
    MODEL,
    DirectProject,
    Project,
    ProjectFault,
    load_project,
)
from kernelwright.engine.events import Listener, silent
from kernelwright.sandbox import Sandbox
from kernelwright.wiring.backends import make_backend
from kernelwright.wiring.settings import Settings
from kernelwright.wiring.tensor_inputs import inputs_of


@dataclass(frozen=True, slots=True)
class EmulateOptions:
    """What `emulate` was asked for.

    Attributes:
        project: Folder of six parts, Python file of six strings, or direct-launch JSON.
        inputs: Texts of `--inputs`.
        init: Arguments of `ModelNew`, as texts of the same kind.
        seed: Of what is drawn.
        chip: Name of the chip, None for the configured one.
        options: How launches run: `strict_sync`, `timing_only`.
        out: Where outputs go as `.npz`, None for nowhere.
        trace: Where the pipes' timeline goes, None for nowhere.
    """

    project: Path
    inputs: tuple[str, ...]
    init: tuple[str, ...] = ()
    seed: int = 0
    chip: str | None = None
    options: Mapping[str, bool] = field(default_factory=dict)
    out: Path | None = None
    trace: Path | None = None


@dataclass(frozen=True, slots=True)
class Emulated:
    """What came of it.

    Attributes:
        is_ok: Whether it ran and broke no rule of the chip.
        faults: Broken rules, errors first.
        failure: Why there are no outputs, empty where there are.
        outputs: A description of each output.
        profile: The paper's table of figures, None where nothing was launched.
        timing_model: The model's version.
    """

    is_ok: bool
    faults: tuple[Fault, ...] = ()
    failure: str = ""
    outputs: tuple[Mapping[str, Json], ...] = ()
    profile: Mapping[str, Json] | None = None
    timing_model: str = ""
    bottleneck: str = ""
    advice: str = ""
    duration_us: float = 0.0

    @property
    def json(self) -> dict[str, Json]:
        """The object that `emulate --json` prints."""
        return {
            "ok": self.is_ok,
            "faults": [fault.json for fault in self.faults],
            "failure": self.failure,
            "outputs": [dict(output) for output in self.outputs],
            "duration_us": self.duration_us,
            "profile": None if self.profile is None else dict(self.profile),
            "bottleneck": self.bottleneck,
            "advice": self.advice,
            "simulated": True,
            "timing_model": self.timing_model,
        }


def emulate(options: EmulateOptions, settings: Settings, *, tell: Listener = silent) -> Emulated:
    """Build a project, call its `ModelNew` once, and say what it did.

    Raises:
        UsageMistake: if there is no project, or an input cannot be understood.
        UnknownName: if there is no such chip.
        MachineLacks: if the toolchain or the sandbox is not to be had.
    """
    project = load_project(options.project)
    if isinstance(project, ProjectFault):
        return _refused("PROJECT", project.reason, project.part, project.line)
    arguments = inputs_of(options.inputs, seed=options.seed)
    init = inputs_of(options.init, seed=options.seed)
    launched = {**options.options, "keep_events": options.trace is not None}
    chosen = settings.ascendc.model_dump()
    chosen |= {"chip": options.chip or settings.ascendc.chip}
    configured = settings.model_copy(update={"ascendc": type(settings.ascendc)(**chosen)})
    with Sandbox(warm=("torch", "kernelwright.emulator.binding_host")) as sandbox:
        backend = make_backend("ascendc", configured, sandbox, tell=tell)
        assert isinstance(backend, AscendBackend)
        candidate = Candidate.of("ascendc", dict(project.files))
        build = backend.build_project(candidate, project)
        if isinstance(build, Failure):
            return _refused("COMPILE_ERROR", build.reason, "", 0)
        with backend.opened(build, model=_model(project), options=launched) as module:
            call = Call(options.seed, init, {}, arguments, is_training=False)
            made = module.construct(call)
            returned = made if isinstance(made, Failure) else module.run(arguments)
            return _emulated(options, project, module, returned)


def _model(project: Project) -> str:
    if not isinstance(project, DirectProject):
        return MODEL
    if not project.model:
        raise UsageMistake(
            "the direct-launch project names no Python file with ModelNew",
            fix='give "entry": {"model": "model.py::ModelNew"} in its JSON',
        )
    return project.model


def _refused(code: str, reason: str, path: str, line: int) -> Emulated:
    return Emulated(False, (Fault(code, Severity.ERROR, reason, path, line),), failure=reason)


def _emulated(
    options: EmulateOptions, project: Project, module: DeviceModule, returned: Returned | Failure
) -> Emulated:
    faults = [*_forbidden(project), *returned.faults]
    if isinstance(returned, Failure) and not any(
        fault.severity is Severity.ERROR for fault in returned.faults
    ):
        faults.append(Fault(returned.category.value.upper(), Severity.ERROR, returned.reason))
    performance = module.performance()
    if options.trace is not None:
        module.write_trace(options.trace)
    found = Emulated(
        is_ok=not any(fault.severity is Severity.ERROR for fault in faults),
        faults=tuple(faults),
        failure=returned.reason if isinstance(returned, Failure) else "",
        profile=performance,
        timing_model=str((performance or {}).get("timing_model", "")),
        duration_us=module.duration_us(),
    )
    if isinstance(returned, Failure):
        return found
    tensors = [leaf for _, leaf in leaves(returned.outputs) if isinstance(leaf, Tensor)]
    if options.out is not None:
        np.savez(options.out, *[_array(tensor) for tensor in tensors])
    profile = returned.profile
    return dataclasses.replace(
        found,
        outputs=tuple(_described(tensor) for tensor in tensors),
        bottleneck="" if profile is None else profile.bottleneck.value,
        advice="" if profile is None else profile.advice,
    )


def _forbidden(project: Project) -> Sequence[Fault]:
    """Return what a kernel's text holds that the device's compiler refuses."""
    if isinstance(project, DirectProject):
        return ()  # host and device code share its files
    found = screen_device(KERNEL, project.files[KERNEL])
    return [
        Fault(item.rule.upper().replace(":", "_").replace("-", "_"), Severity.ERROR, item.message,
              item.path, item.line)
        for item in found
    ]  # fmt: skip


def _array(tensor: Tensor) -> Any:
    if tensor.dtype == "bfloat16":
        bits = np.frombuffer(tensor.data, np.uint16).astype(np.uint32) << 16
        return bits.view(np.float32).reshape(tensor.shape)
    return np.frombuffer(tensor.data, np.dtype(tensor.dtype)).reshape(tensor.shape)


def _described(tensor: Tensor) -> Mapping[str, Json]:
    values = _array(tensor).astype(np.float64)
    finite = values[np.isfinite(values)]
    return {
        "dtype": tensor.dtype,
        "shape": list(tensor.shape),
        "min": float(finite.min()) if finite.size else None,
        "max": float(finite.max()) if finite.size else None,
        "mean": float(finite.mean()) if finite.size else None,
        "not_finite": int(values.size - finite.size),
    }
