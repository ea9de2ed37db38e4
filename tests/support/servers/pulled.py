"""Pull from a server to the end, whatever it does."""

from __future__ import annotations

from support.kept_memory import KeptMemory

from tapestry.core.errors import TapestryError
from tapestry.ingest.pull import pull_account


def pulled(account, places, intake, memory=None):
    """Return the reports, by place, and what was raised at the end."""
    reports = {}
    try:
        for report in pull_account(account, places, intake, memory or KeptMemory()):
            reports[report.place] = report
    except TapestryError as error:
        return reports, error
    return reports, None


def ids(intake):
    """Return what was taken in, by the part of its Message-ID before the @."""
    rows = intake.tables.open("messages").to_pyarrow_table(columns=["msgid"])
    return sorted(row.removesuffix("@x.org") for row in rows.column("msgid").to_pylist())
