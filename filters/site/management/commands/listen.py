"""`manage.py listen`: hear of new mail at once; `up` runs it."""

from __future__ import annotations

import logging
import time
from typing import Any

from django.db import Error, close_old_connections

from filters.site.management.base import TapestryCommand
from filters.sources.listening import Listener
from filters.sources.tasks import pull_soon

log = logging.getLogger(__name__)


class Command(TapestryCommand):
    """Listen to the mailboxes of all sources until it is stopped."""

    logs_events = True
    help = "Listen to the mailboxes of all sources (IMAP IDLE), and have them pulled at once."

    def handle(self, *args: Any, **options: Any) -> None:
        listener = Listener(pull_soon)
        while True:
            close_old_connections()
            try:
                listener.turn()
            except Error as error:
                log.warning("The database cannot be used just now: %s", error)
            time.sleep(0.5)
