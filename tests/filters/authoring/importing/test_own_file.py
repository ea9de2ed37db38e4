"""Tapestry's own file: what is none is refused in words, before TOML is read."""

from __future__ import annotations

import re
import time

import pytest

from filters.authoring.importing import own_file
from filters.authoring.importing.entries import UnreadableFileError
from filters.authoring.importing.files import read_file
from tapestry.query.context import Context

DOTTED = b"a." * 20_000 + b"a = 1\n"


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b'[[filter]]\ntitle = "x"\n', "Filter 1 of this file has no text"),
        (b'[[filter]]\ntext = "from x"\nsecret = "1"\n', "Line 3: a filter has no “secret”."),
        (b'[[filter]]\ntext = "from x"\nmode = 1\n', "could not read line 3"),
        (b'[[filter]]\ntext = """from x\nor from y"""\nmode\n', "could not read line 4"),
        (b'[[filter]]\ntext = "x"\ntext = "y"\n', "could not read line 3"),
        (rb"[[filter]]" + b"\n" + rb'text = "\q"', "could not read line 2"),
        (b'[[filter]]\n"text" = "x"\n', "could not read line 2"),
        (b'[[filter]]\ntext = "x', "could not read line 2"),
        (b"[[filter]]\n[filter.a]\n", "could not read line 2"),
        (b"[[filter]]\n" + DOTTED, "could not read line 2"),
        (b"[[filter]]\ntext = " + b"[" * 90_000, "could not read line 2"),
        (b"[[filter]]\ntext = " + b"{a=" * 90_000, "could not read line 2"),
        (b"[[filter]]\n" + DOTTED.replace(b"a.", b'"a".'), "could not read line 2"),
    ],
)
def test_what_no_filter_has_is_refused_with_its_line(raw: bytes, sentence: str) -> None:
    begun = time.process_time()
    with pytest.raises(UnreadableFileError, match=re.escape(sentence)):
        read_file(raw, Context())
    assert time.process_time() - begun < 1


def test_tables_that_nest_never_reach_the_reader_of_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    def loads(_text: str) -> None:
        raise AssertionError("TOML is read")

    monkeypatch.setattr(own_file.tomllib, "loads", loads)
    for text in (DOTTED, b"[[filter]]\n" + DOTTED, b"# mine\n" + DOTTED):
        with pytest.raises(UnreadableFileError):
            read_file(text, Context())


@pytest.mark.parametrize(
    "written",
    [
        '"from x"',
        "'from x'  # said",
        '"""from x"""',
        "'''from x'''",
        '"\\u0066rom x"',
        '"""\\\n   from x"""',
    ],
)
def test_every_string_of_toml_is_read(written: str) -> None:
    text = f"\ufeff# mine\r\n\r\n [[ filter ]] # first\r\ntext={written}\r\n[[filter]]\ntext = 'y'"
    assert [entry.text for entry in read_file(text.encode(), Context())] == ["from x", "y"]


def test_a_script_in_sieve_may_mention_a_table() -> None:
    script = b'if header "subject" text:\n[[filter]]\n.\n { keep; }'
    assert "LIKE" in read_file(script, Context())[0].text
