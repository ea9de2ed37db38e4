"""What several machines of one site must share, and how they must see it."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import psutil
from django.conf import settings
from django.db import connection

from filters.site.settings.workers import PARTS
from filters.site.work.db.database import seconds_apart
from tapestry.core.errors import TapestryError

CLOCKS = 20
"""Seconds that a machine and the database may be apart: two machines are then less than those after
which a clock counts as set back."""


def require_shared(data: Path, kinds: Collection[str]) -> None:
    """Raise TapestryError unless this machine may run these parts beside others."""
    if set(kinds) != set(PARTS) and not settings.MACHINE:
        raise TapestryError(
            "Some of the parts of a site run where each machine has a name.",
            hint="Set TAPESTRY_MACHINE to a name that no other machine of the site has.",
        )
    if not settings.MACHINE:
        return
    if not (connection.vendor == "postgresql" and os.environ.get("REDIS_URL")):
        raise TapestryError(
            "Several machines share one PostgreSQL and one Redis.",
            hint="Set DATABASE_URL and REDIS_URL, or unset TAPESTRY_MACHINE.",
        )
    if (apart := seconds_apart()) > CLOCKS:
        raise TapestryError(
            f"The clocks of this machine and of the database are {apart:,} seconds apart.",
            hint="Set it right, as with `timedatectl set-ntp true`.",
        )
    kind, options = mount_of(data)
    if kind.startswith("nfs") and (
        {"acdirmax=0", "noac"}.isdisjoint(options) or "nocto" in options
    ):
        raise TapestryError(
            f"On the NFS of {data} this machine may overlook what another has written.",
            hint="Mount it with acdirmin=0,acdirmax=0, and without nocto.",
        )


def mount_of(path: Path) -> tuple[str, set[str]]:
    """Return the type and the options of the file system that a path is in."""
    real = path.resolve()
    mounts = psutil.disk_partitions(all=True)
    above = [mount for mount in mounts if real.is_relative_to(mount.mountpoint)]
    mount = max(above, key=lambda mount: len(mount.mountpoint), default=None)
    return (mount.fstype, set(mount.opts.split(","))) if mount else ("", set())
