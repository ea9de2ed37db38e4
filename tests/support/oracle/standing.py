"""Which annotations stand, by loops over rows that are dicts (LANGUAGE.md, "Columns")."""

from tapestry.core.clock import NEVER


def retracted(row, rows):
    """Return the instant from which on an annotation does not stand, as the product derives it."""
    if row.get("kind") == "retraction":
        return row["ts"]
    return min((other["ts"] for other in rows if _takes_back(other, row)), default=NEVER)


def stands(row, rows, t):
    """Tell whether an annotation stands at an instant."""
    there = row["ts"] <= t and row.get("kind") != "retraction"
    return there and not any(_takes_back(other, row) and other["ts"] <= t for other in rows)


def _takes_back(retraction, row):
    if retraction.get("kind") != "retraction" or None in _named(row):
        return False
    return (retraction.get("value"), *_named(retraction)[1:]) == _named(row)


def _named(row):
    names = ("annid", "msgid", "owner")
    return (*(row.get(name) for name in names), row.get("audience") or "public")
