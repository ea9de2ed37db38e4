"""Threads in which the database and the tables are asked, beside the one of the sockets."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 16

_pool = ThreadPoolExecutor(THREADS, "imap")


async def in_thread(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call a function in a thread, with a connection to the database that works."""

    def call() -> T:
        close_old_connections()
        try:
            return function(*arguments, **named)
        finally:
            close_old_connections()

    return await sync_to_async(call, thread_sensitive=False, executor=_pool)()
