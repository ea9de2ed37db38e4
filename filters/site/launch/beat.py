"""Celery's beat: `python -m filters.site.launch.beat`.  Of several on one site, one is at work."""

from __future__ import annotations

import django

from filters.site.work.parts import services
from tapestry.celery import app
from tapestry.core.files.file_lock import FOREVER
from tapestry.core.files.site_lock import site_lock


def main() -> None:
    """Ask for what is periodic until SIGTERM, once no other process does."""
    django.setup()
    # Its schedule is kept in memory: a file of it could not be written to a full disk.
    schedule = ("--scheduler", "celery.beat:Scheduler", "--pidfile", "")
    with site_lock(services.data() / "run" / "beat.lock", wait=FOREVER):
        app.start(["--skip-checks", "beat", "--loglevel", "WARNING", *schedule])


if __name__ == "__main__":
    main()
