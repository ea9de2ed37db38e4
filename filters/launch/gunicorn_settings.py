"""Settings of the web server, read by gunicorn: one process, many threads, no orphans."""

from __future__ import annotations

from typing import Any

from tapestry.core.child_process import die_with_parent

worker_class = "gthread"
workers = 1
timeout = 120
graceful_timeout = 1
keepalive = 5
control_socket_disable = True
proc_name = "tapestry"
loglevel = "warning"


def post_fork(server: Any, worker: Any) -> None:
    """Have the worker end with the process that forked it."""
    die_with_parent(server.pid)
