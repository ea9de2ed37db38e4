"""The parts that are Python: how the worker, beat and the web server are started."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tapestry.core.child_process import Child, spawn

BASE = Path(__file__).resolve().parents[2]
THREADS = 16
"""Of the web server: each page that is open holds one for its live updates."""


def environment(data: Path, redis: str, spark: str) -> dict[str, str]:
    """Return the environment of every part: where the data, Redis and Spark are."""
    return dict(os.environ) | {
        "DJANGO_SETTINGS_MODULE": "tapestry.settings",
        "TAPESTRY_DATA": str(data),
        "REDIS_URL": redis,
        "SPARK_REMOTE": spark,
        "PYTHONUNBUFFERED": "1",
    }


def start_worker(run: Path, env: Mapping[str, str]) -> Child:
    """Start the Celery worker: four threads, one Spark session."""
    celery = ["celery", "-A", "tapestry.celery", "--skip-checks", "worker"]
    options = ["--pool", "threads", "--concurrency", "4", "--loglevel", "WARNING"]
    quiet = ["--without-gossip", "--without-mingle"]
    return _start("The worker", run / "worker.log", [*celery, *options, *quiet], env)


def start_beat(run: Path, env: Mapping[str, str]) -> Child:
    """Start Celery's beat, which fires a tick every few seconds."""
    schedule = run / "beat-schedule"
    for stale in run.glob("beat-schedule*"):
        stale.unlink()
    celery = ["celery", "-A", "tapestry.celery", "--skip-checks", "beat"]
    options = ["--loglevel", "WARNING", "--schedule", str(schedule), "--pidfile", ""]
    return _start("Beat", run / "beat.log", [*celery, *options], env)


def start_listener(run: Path, env: Mapping[str, str]) -> Child:
    """Start what hears of new mail at once (IMAP IDLE)."""
    return _start("The listener", run / "listener.log", ["django", "listen"], env)


def start_web(run: Path, env: Mapping[str, str], port: int) -> Child:
    """Start the web server on loopback."""
    settings = f"python:{__package__}.gunicorn_settings"
    gunicorn = ["gunicorn", "tapestry.wsgi:application", "--config", settings]
    options = ["--bind", f"127.0.0.1:{port}", "--threads", str(THREADS)]
    return _start("The web server", run / "web.log", [*gunicorn, *options], env)


def _start(name: str, log: Path, module: list[str], env: Mapping[str, str]) -> Child:
    log.write_bytes(b"")
    return spawn(name, [sys.executable, "-m", *module], log, env, BASE)
