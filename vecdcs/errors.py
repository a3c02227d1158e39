"""The errors a user can cause; everything else is a bug."""

from __future__ import annotations


class VecdcsError(Exception):
    """Base of every error that names what the user can change."""


class InputError(VecdcsError):
    """Bad input: says in which file, at which line, and what was expected there."""

    def __init__(self, message: str, file: str | None = None, line: int | None = None) -> None:
        self.message, self.file, self.line = message, file, line
        super().__init__(message, file, line)

    def __str__(self) -> str:
        where = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        return f"{where}: {self.message}" if where else self.message
