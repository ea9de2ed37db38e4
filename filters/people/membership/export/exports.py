"""Exports that people asked for: each is made once, kept for a day, and then deleted."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path

from django.db import IntegrityError, transaction

from filters.people.membership.export.archive import write
from filters.people.models import Export, User
from filters.runs.models import SetAside
from filters.site.work import set_aside
from filters.site.work.parts import services
from tapestry.core.clock import DAY, wall_clock
from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import DiskFullError, is_disk_full
from tapestry.core.log import event
from tapestry.core.surroundings import is_unforeseen

log = logging.getLogger(__name__)

KEPT = DAY
"""How long an export can be fetched."""

FAILED = "It could not be made; whoever runs this site finds the reason in the log."


def ask(user: User) -> Export:
    """Ask for an export in place of earlier ones; one that is being made already is returned."""
    try:
        with transaction.atomic():
            asked = Export.objects.create(owner=user, asked_at=wall_clock())
    except IntegrityError:
        return Export.objects.filter(owner=user)[0]
    Export.objects.filter(owner=user, pk__lt=asked.pk).delete()
    return asked


def directory() -> Path:
    return services.data() / "exports"


def path_of(export: Export) -> Path:
    return directory() / f"{export.uid.hex}.zip"


def newest(user: User) -> Export | None:
    """Return the export that a person asked for last, if it is not too old."""
    return Export.objects.filter(owner=user, asked_at__gt=wall_clock() - KEPT).first()


def make_waiting() -> None:
    """Make the exports that people wait for, one after the other; one that fails costs no other."""
    exports = Export.objects.filter(ended_at=None).order_by("pk")
    works = {step_of(export): partial(_make, export.pk) for export in exports}
    set_aside.each(SetAside.Kind.STEP, works)


def why_not(export: Export) -> str:
    """Return why an export is late, for its owner; "" if it is not."""
    return set_aside.reason_of(SetAside.Kind.STEP, step_of(export))


def step_of(export: Export) -> str:
    return f"export {export.pk}"


def forget_old() -> None:
    """Delete exports that are kept no longer, and files that belong to none."""
    Export.objects.filter(ended_at__lt=wall_clock() - KEPT).delete()
    if not directory().is_dir():
        return
    known = {f"{uid.hex}.zip" for uid in Export.objects.values_list("uid", flat=True)}
    for path in directory().iterdir():
        if path.name not in known:
            path.unlink(missing_ok=True)


def _make(key: int) -> None:
    """Make an export that is asked for; what nobody foresaw is raised, and tried for a day."""
    export = Export.objects.filter(pk=key, ended_at=None).select_related("owner").first()
    if export is None:
        return
    error, done = "", {}
    try:
        content = write(export.owner, path_of(export))
        done = {
            "messages": content.messages,
            "annotations": content.annotations,
            "size": content.size,
        }
    except Exception as failure:
        if is_unforeseen(failure) and export.asked_at > wall_clock() - KEPT:
            raise
        log.exception("an export failed")
        error = FAILED
        if is_disk_full(failure):
            error = DiskFullError().message
        elif isinstance(failure, TapestryError):
            error = failure.message
    Export.objects.filter(pk=export.pk).update(ended_at=wall_clock(), error=error, **done)
    event("export", export=export.pk, failed=bool(error), **done)
