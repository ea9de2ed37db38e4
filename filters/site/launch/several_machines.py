"""What several machines of one site must share, and how they must see it."""

from __future__ import annotations

import os
import re
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

_TIMEOUT = re.compile(r"--(attribute|entry|negative)-timeout[= ]([0-9.]+)")
_CACHE = re.compile(r"-(?:md|nl)-cache$")
"""The parts of a client of GlusterFS that keep attributes, and names that are not there."""


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
    kind, options, mountpoint = mount_of(data)
    if kind.startswith("nfs") and (
        {"acdirmax=0", "noac"}.isdisjoint(options) or "nocto" in options
    ):
        raise _overlooking("NFS", data, "acdirmin=0,acdirmax=0, and without nocto.")
    if kind == "fuse.glusterfs" and _remembers(mountpoint):
        raise _overlooking(
            "GlusterFS",
            data,
            "attribute-timeout=0,entry-timeout=0, and without negative-timeout; of its volume set "
            "performance.stat-prefetch and performance.nl-cache to off.",
        )


def _overlooking(name: str, data: Path, options: str) -> TapestryError:
    return TapestryError(
        f"On the {name} of {data} this machine may overlook what another has written.",
        hint=f"Mount it with {options}",
    )


def _remembers(mountpoint: Path) -> bool:
    """Tell whether a client of GlusterFS may answer from memory, as the files in its mount say."""
    meta = mountpoint / ".meta"
    try:
        options = dict(_TIMEOUT.findall((meta / "cmdline").read_text()))
        caches = [path for path in (meta / "graphs/active").iterdir() if _CACHE.search(path.name)]
    except OSError:
        return True
    timeouts = {"attribute": "1", "entry": "1", "negative": "0"} | options
    return bool(caches) or any(float(seconds) for seconds in timeouts.values())


def mount_of(path: Path) -> tuple[str, set[str], Path]:
    """Return the type and the options of the file system that a path is in, and where it begins."""
    real = path.resolve()
    mounts = psutil.disk_partitions(all=True)
    above = [mount for mount in mounts if real.is_relative_to(mount.mountpoint)]
    mount = max(above, key=lambda mount: len(mount.mountpoint), default=None)
    if mount is None:
        return "", set(), Path("/")
    return mount.fstype, set(mount.opts.split(",")), Path(mount.mountpoint)
