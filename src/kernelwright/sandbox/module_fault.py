"""What went wrong inside a module, as the child reports it: a kind and feedback, never a pickle.

The text is for whoever wrote the module: its own lines, its own file names, the final message.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kernelwright.core.verdict import Category

_FRAMES = 6
_REASON_CHARACTERS = 4000


class ModuleFault(Exception):
    """The module itself is at fault; becomes a `Failure` on the trusted side.

    Attributes:
        category: Kind of the failure.
        reason: Feedback for its author.
    """

    def __init__(self, category: Category, reason: str) -> None:
        super().__init__(reason)
        self.category = category
        self.reason = reason[:_REASON_CHARACTERS]


@contextmanager
def blamed_on_the_module(doing: str, folder: Path) -> Iterator[None]:
    """Turn whatever the module raises inside the block into a `ModuleFault`.

    Args:
        doing: What the module was asked to do, such as `calling forward`.
        folder: Where the module's own files lie; their frames are kept, others are left out.
    """
    try:
        yield
    except ModuleFault:
        raise
    except MemoryError as error:
        raise ModuleFault(Category.MEMORY, _story(doing, error, folder)) from error
    except BaseException as error:  # noqa: BLE001 - SystemExit from a module must not end the host
        raise ModuleFault(_category(error), _story(doing, error, folder)) from error


def _category(error: BaseException) -> Category:
    text = str(error)
    is_memory = isinstance(error, RuntimeError) and (
        "can't allocate memory" in text or "not enough memory" in text
    )
    return Category.MEMORY if is_memory else Category.EXCEPTION


def _story(doing: str, error: BaseException, folder: Path) -> str:
    told = traceback.TracebackException.from_exception(error, compact=True)
    prefix = f"{folder}/"
    own = [frame for frame in told.stack if frame.filename.startswith(prefix)]
    places = [
        f"  {frame.filename.removeprefix(prefix)}:{frame.lineno} in {frame.name}: {frame.line}"
        for frame in own[-_FRAMES:]
    ]
    final = "".join(told.format_exception_only()).strip().replace(prefix, "")
    return "\n".join([f"exception while {doing}: {final.splitlines()[-1]}", *places, final])
