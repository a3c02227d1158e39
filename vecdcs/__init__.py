"""vecdcs: ask structured questions of plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vecdcs.model.ask import load as load

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`vecdcs.load`, fetched when it is first used, so that `import vecdcs` is instant."""
    if name != "load":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vecdcs.model.ask import load

    return load
