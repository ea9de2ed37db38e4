"""Random conditions in the manner of sqllogictest's ``test/random/expr``.

Signs before signs, sums and products of small numbers, NULL everywhere, COALESCE, BETWEEN, IN, IS
NULL, NOT, each also where it is useless.  They are made here; no file of that suite is kept.
"""

from __future__ import annotations

from hypothesis import strategies as st

COLUMNS = ("m.size", "m.attachments")

ROWS = [
    {"msgid": f"{size}/{attachments}", "ts": 0, "audience": "public"}
    | {"size": size, "attachments": attachments}
    for size in (None, 0, 7)
    for attachments in (None, 1, 26)
]
"""A table for the columns: each NULL beside each value."""

UNKNOWN_TO_TQL = {
    "+ m.size > 3": "a sign that says nothing",
    "m.size / 2 > 3": "a division: sqlite's and Spark's of integers differ",
    "NULLIF(m.size, 3) > 3": "a function that is not of LANGUAGE.md",
    "CASE WHEN m.size > 3 THEN 1 END = 1": "CASE",
    "CAST(NULL AS INTEGER) > 3": "CAST: a NULL has no type",
    "ABS(m.size) > 3": "a function that is not of LANGUAGE.md",
    "(m.size > 3) IS NULL": "a condition is no value",
    "m.size > 3 = (m.attachments > 3)": "a condition is no value",
    "COUNT(*) > 3": "a count must be of something",
    "MAX(m.size) > 3": "a maximum must be of something",
}
"""What the suite has and TQL does not read, and why.  It only shrinks."""

_leaves = st.one_of(
    st.integers(0, 99).map(str), st.sampled_from((*COLUMNS, *COLUMNS, *COLUMNS, "NULL"))
)


def _more(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("- {}".format, inner),
        st.builds("( {} )".format, inner),
        st.builds("{} {} {}".format, inner, st.sampled_from("+-*"), inner),
        st.builds("{} {} - {}".format, inner, st.sampled_from("+-*"), inner),
        st.builds("COALESCE ( {}, {} )".format, inner, inner),
        st.builds("COALESCE ( {}, {}, {} )".format, inner, inner, inner),
    )


values = st.recursive(_leaves, _more, max_leaves=5)
"""Integers, and NULL; small enough that no product is cut."""

_tests = st.one_of(
    st.builds(
        "{} {} {}".format, values, st.sampled_from(("=", "<>", "<", "<=", ">", ">=")), values
    ),
    st.builds(
        "{} {}BETWEEN {} AND {}".format, values, st.sampled_from(("", "NOT ")), values, values
    ),
    st.builds("{} {}IN ( {}, {} )".format, values, st.sampled_from(("", "NOT ")), values, values),
    st.builds("{} IS {}NULL".format, values, st.sampled_from(("", "NOT "))),
)

conditions = st.recursive(
    _tests,
    lambda inner: st.one_of(
        st.builds("NOT {}".format, inner),
        st.builds("NOT ( {} )".format, inner),
        st.builds("( {} {} {} )".format, inner, st.sampled_from(("AND", "OR")), inner),
        st.builds("{} {} {}".format, inner, st.sampled_from(("AND", "OR")), inner),
    ),
    max_leaves=4,
)
