"""Celery's beat: `python -m filters.site.launch.beat`.  Of several machines one is at work."""

from __future__ import annotations

import django

from filters.site.settings.workers import BEAT
from filters.site.work.parts import machines
from tapestry.celery import app


def main() -> None:
    """Ask for what is periodic until SIGTERM, once no other machine does."""
    django.setup()
    # Its schedule is kept in memory: a file of it could not be written to a full disk.
    schedule = ("--scheduler", "celery.beat:Scheduler", "--pidfile", "")
    with machines.alone(BEAT):
        app.start(["--skip-checks", "beat", "--loglevel", "WARNING", *schedule])


if __name__ == "__main__":
    main()
