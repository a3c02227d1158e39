"""Asking."""
from __future__ import annotations
from dataclasses import dataclass
from vecdcs.model.model import Model

@dataclass(frozen=True)
class Asker(Model):
    """x"""
