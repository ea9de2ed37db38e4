"""The facts about threads that the product derives, of messages given as dicts."""

from tapestry.core.schema import MESSAGES, THREADS
from tapestry.tables.write.threads import all_facts


def rows_of(data, table):
    """Return the rows of a table, which of threads are derived where they are not given."""
    if table == THREADS and THREADS not in data:
        return thread_rows(data.get(MESSAGES, ()))
    return data.get(table, ())


def thread_rows(messages):
    """Return the rows of the table of threads."""
    return all_facts(map(_headers, messages))


def _headers(row):
    return {
        "msgid": row["msgid"],
        "ts": row["ts"],
        "audience": row.get("audience") or "public",
        "inreplyto": row.get("inreplyto"),
        "references": row.get("references") or (),
    }
