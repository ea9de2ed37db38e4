"""Measurements, one file each: `manage.py bench NAME`.  A file has the name of its command.

Each has ``SUMMARY``, ``FIGURES`` (templates for FIGURES.md: what was measured, and how much),
``add_arguments``, and ``measure``, which returns the figures by name.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType

BENCHES: dict[str, ModuleType] = {
    module.name: import_module(f"{__name__}.{module.name}")
    for module in pkgutil.iter_modules(__path__)
    if not module.ispkg
}
"""By the name that `manage.py bench` takes."""
