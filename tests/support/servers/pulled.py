"""Pull from a server to the end, whatever it does."""

from __future__ import annotations

from tapestry.core.errors import TapestryError
from tapestry.ingest.pull import pull_account
from tests.support.kept_memory import KeptMemory


def pulled(account, places, target, memory=None):
    """Return the reports, by place, and what was raised at the end."""
    reports = {}
    try:
        for report in pull_account(account, places, target, memory or KeptMemory()):
            reports[report.folder] = report
    except TapestryError as error:
        return reports, error
    return reports, None


def ids(target):
    """Return what was taken in, by the part of its Message-ID before the @."""
    rows = target.tables.open("messages").to_pyarrow_table(columns=["msgid"])
    return sorted(row.removesuffix("@x.org") for row in rows.column("msgid").to_pylist())
