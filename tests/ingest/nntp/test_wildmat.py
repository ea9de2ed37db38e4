"""Patterns of newsgroups: the last that fits decides."""

import pytest

from tapestry.core.errors import TapestryError
from tapestry.ingest.nntp.wildmat import check_pattern, matches


@pytest.mark.parametrize(
    ("patterns", "group", "fits"),
    [
        ("comp.*", "comp.misc", True),
        ("comp.*", "comp", False),
        ("comp.?", "comp.c", True),
        ("comp.* !comp.sys.*", "comp.sys.mac", False),
        ("comp.* !comp.sys.* comp.sys.mac", "comp.sys.mac", True),
        ("!comp.* comp.misc", "comp.misc", True),
        ("a+b.(c)", "a+b.(c)", True),
        ("a.b", "axb", False),
        ("a*b*b", "ab", False),
        ("a*b*b", "aXbXbb", True),
        ("*.b*c", "a.b.bc", True),
        ("a**", "a", True),
        ("*a" * 9 + "b", "a" * 200, False),
    ],
)
def test_the_last_pattern_that_fits_decides(patterns, group, fits):
    assert matches(patterns.split(), group) is fits


@pytest.mark.parametrize("wanted", ["", "a b", "a,b", "a\r\nQUIT", "a\x00", "!", "x" * 500])
def test_what_is_no_pattern_is_refused(wanted):
    with pytest.raises(TapestryError, match="neither a newsgroup nor a pattern"):
        check_pattern(wanted)
