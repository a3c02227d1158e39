"""vecdcs: ask structured questions of plain text."""

__version__ = "0.1.0"
