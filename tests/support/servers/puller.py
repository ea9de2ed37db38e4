"""A process that pulls sources, to be killed: puller.py, told what to do line by line.

It forks for every pull, so that a test need not wait for Python and Django each time.  What
it is told and what it answers are lines of JSON; TAPESTRY_DATA says where all is kept.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

MANY_COMMITS = 7
"""Messages in an append: as few as that, so that there is much to be killed between."""

LONG = 600.0
"""Seconds of a pull: none ends for want of time, and leaves the rest to the next."""

ASK_AGAIN = 0.2
"""Seconds after which a message that was put aside is asked for again: a minute is too long."""


def answer(what: Any) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    """Do what the lines say until they end."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "tapestry.settings"
    import django

    django.setup()
    from django.db import connections

    from tapestry.ingest import ingest_batch, unavailable
    from tapestry.ingest import pull as pull_account
    from tapestry.ingest.imap import folder

    ingest_batch.BATCH = MANY_COMMITS
    folder.BATCH = 5
    pull_account.FIRST_PAUSE = 0.02
    unavailable.ASK_AGAIN = ASK_AGAIN
    for line in sys.stdin:
        told = json.loads(line)
        child = os.fork()
        if child:
            answer({"pid": child})
            answer({"status": os.waitpid(child, 0)[1]})
            continue
        try:
            answer(DO[told.pop("do")](**told))
        except BaseException:
            answer({"error": traceback.format_exc()})
        connections.close_all()
        os._exit(0)


def make(folder_patterns: list[str], secret: str, **fields: Any) -> dict[str, Any]:
    """Make the database, a person and a source."""
    from django.core.management import call_command

    from filters.people.models import User
    from filters.sources.accounts.credentials import keep_secret
    from filters.sources.models import Source

    call_command("migrate", verbosity=0, interactive=False)
    owner = User.objects.create_user("alice")
    source = Source(
        owner=owner, folder_patterns=folder_patterns, active=True, audience="user:alice", **fields
    )
    keep_secret(source, secret)
    source.save()
    return {"source": source.pk}


def pull(source: int) -> dict[str, Any]:
    """Pull once; say how many messages the source has put aside, for another pull."""
    from filters.sources.models import Source
    from filters.sources.pull.pulling import pull as pull_source
    from filters.sources.pull.sync_state import StoredSyncStates

    pulled = Source.objects.get(pk=source)
    tally = pull_source(pulled, seconds=LONG)
    assert tally is not None
    aside = sum(StoredSyncStates.of(pulled).unavailable().values())
    return {"read": tally.read, "added": tally.added, "error": pulled.error, "aside": aside}


DO = {"make": make, "pull": pull}

if __name__ == "__main__":
    main()
