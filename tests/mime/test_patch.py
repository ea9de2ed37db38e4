"""The files that patches touch, and the place of a patch in its series."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.ingest.parse import parse
from tapestry.mime.patch import LONGEST_PATH, MOST_PATHS, changed_paths, place_in_series

GIT = "diff --git a/fs/x.c b/fs/x.c\nindex 1..2 100644\n--- a/fs/x.c\n+++ b/fs/x.c\n@@ -1 +1 @@\n"


def paths(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(changed_paths(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GIT, ("fs/x.c",)),
        (GIT.replace("fs/x.c", "my file.c"), ("my file.c",)),
        ("diff --git i/fs/x.c w/fs/x.c\n", ("fs/x.c",)),
        ('diff --git "a/\\303\\244\\".c" "b/\\303\\244\\".c"\n', ('ä".c',)),
        ("diff --git a/x b/x\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n", ("x",)),
        ("diff --git a/a b b/c d\nrename from a b\nrename to c d\n", ("a b", "c d")),
        ("--- x.c.orig\t2004-01-31\n+++ x.c\t2004-02-01\n@@ -1 +1 @@\n", ("x.c.orig", "x.c")),
        ("--- x.c   2012-04-25 17:55\n+++ x.c  (revision 3)\n@@ -1 +1 @@\n", ("x.c",)),
        ("*** x.c\t2004\n--- y.c\t2004\n***************\n", ("x.c", "y.c")),
        ("--- what I mean\n+++ what you mean\nNothing.\n", ()),
        ("".join(f"> {line}\n" for line in GIT.splitlines()), ()),
        (f"diff --git a/{'x' * LONGEST_PATH}y b/{'x' * LONGEST_PATH}y\n", ()),
    ],
)
def test_a_diff_names_the_files_that_it_touches(text, expected):
    assert paths(text) == expected


@pytest.mark.parametrize(
    ("subject", "place"),
    [
        (None, None),
        ("[PATCH] a", 1),
        ("[PATCHv2] a", 1),
        ("[PATCH v2 0/5] a", 0),
        ("[PATCH net-next 00/12] a", 0),
        ("[r-devel] [RFC PATCH 3/4] a", 3),
        ("[RESEND][patch 10/11] a", 10),
        ("Re: [PATCH 1/2] a", None),
        ("[GIT PULL] a", None),
        ("A [PATCH] for you", None),
        ("[dispatch 1/2]", None),
    ],
)
def test_a_subject_says_the_place_in_a_series(subject, place):
    assert place_in_series(subject) == place


@given(st.text('ab/\\"037 \n\t+-*@¹', max_size=200))
def test_whatever_is_written_has_paths_of_one_line(text):
    for path in changed_paths(f"diff --git {text}\n--- {text}\n+++ {text}\n@@ -1 {text}"):
        assert 0 < len(path) <= LONGEST_PATH


def message(*parts: str) -> bytes:
    inner = "".join(f"--b\n{part}\n" for part in parts)
    return f"Content-Type: multipart/mixed; boundary=b\n\n{inner}--b--\n".encode()


@pytest.mark.parametrize(
    "head",
    [
        "Content-Type: text/plain",
        "Content-Type: text/x-patch; name=a.patch",
        "Content-Type: text/plain; name=a.diff\nContent-Disposition: attachment",
        "Content-Type: application/octet-stream; name=A.PATCH",
    ],
)
def test_patches_are_in_the_text_or_attached(head):
    read = parse(message("Content-Type: text/plain\n\nHello", f"{head}\n\n{GIT}")).message
    assert read.diff_paths == ("fs/x.c",)


def test_what_is_no_patch_touches_nothing():
    raw = message("\n\nHello", f"Content-Type: application/pdf; name=a.pdf\n\n{GIT}")
    assert parse(raw).message.diff_paths == ()


def test_no_more_paths_than_the_limit_are_kept():
    text = "".join(f"diff --git a/{number} b/{number}\n" for number in range(MOST_PATHS + 5))
    read = parse(f"Subject: [PATCH 2/3] x\n\n{text}".encode()).message
    assert (len(read.diff_paths), read.patch) == (MOST_PATHS, 2)
