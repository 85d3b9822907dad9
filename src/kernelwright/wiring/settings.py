"""Settings: `kernelwright.toml` here or in the user's configuration folder, then environment.

An environment variable wins over a file, and a command's option wins over both:
`KERNELWRIGHT_CPU__COMPILER=clang++` is `[cpu] compiler = "clang++"`.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from kernelwright.core.errors import UsageMistake


class CpuSettings(BaseModel):
    """The CPU backend."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    compiler: str | None = Field(default=None, description="C++ compiler; None finds one.")
    threads: int = Field(default=1, ge=1, description="Threads of candidate and baseline alike.")


class AscendcSettings(BaseModel):
    """The Ascend C backend."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chip: str = Field(default="910B2", description="Chip that is emulated.")
    wall_s: float = Field(default=300.0, gt=0, description="Seconds for one emulated call.")
    strict_sync: bool = Field(
        default=False, description="Dependent vector instructions need PipeBarrier<PIPE_V>."
    )


class SandboxSettings(BaseModel):
    """Limits of untrusted processes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wall_s: float = Field(default=60.0, gt=0, description="Seconds for one run of a candidate.")
    memory_bytes: int = Field(default=8 << 30, gt=0, description="Memory of one process.")


class MemorySettings(BaseModel):
    """Retrieval and learning (EvoKernel)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    context_items: int = Field(default=4, ge=0, description="N: items shown to a generator.")
    pool_factor: float = Field(default=2.0, ge=1, description="lambda: pool size is lambda * N.")
    epsilon: float = Field(default=0.1, ge=0, le=1, description="Share of random choices.")
    step_size: float = Field(default=0.1, gt=0, le=1, description="alpha of eq. 4.")


class Settings(BaseSettings):
    """Everything that can be configured."""

    model_config = SettingsConfigDict(
        env_prefix="KERNELWRIGHT_", env_nested_delimiter="__", frozen=True, extra="ignore"
    )

    store: Path | None = Field(default=None, description="Database; None is the user's own.")
    cpu: CpuSettings = CpuSettings()
    ascendc: AscendcSettings = AscendcSettings()
    sandbox: SandboxSettings = SandboxSettings()
    memory: MemorySettings = MemorySettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read options, then the environment, then the files; the first that says wins."""
        files = TomlConfigSettingsSource(settings_cls, toml_file=settings_files())
        return init_settings, env_settings, files


def settings_files() -> list[Path]:
    """Return the files that are read, the later one winning: the user's, then the folder's."""
    config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return [config / "kernelwright" / "kernelwright.toml", Path("kernelwright.toml")]


def load_settings() -> Settings:
    """Read the settings of this folder, this user and this environment.

    Raises:
        UsageMistake: if a file cannot be read as TOML or a value does not fit.
    """
    try:
        return Settings()
    except tomllib.TOMLDecodeError as error:
        raise UsageMistake(
            f"kernelwright.toml cannot be read: {error}", fix="correct it, or move it away"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise UsageMistake(
            f"setting {place}: {first['msg']}",
            fix=f"correct {place} in kernelwright.toml or in the environment",
        ) from error


def data_folder() -> Path:
    """Return the folder for what outlives a run: store and caches."""
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "kernelwright"


def cache_folder() -> Path:
    """Return the folder for what can be made again: built libraries."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "kernelwright"
