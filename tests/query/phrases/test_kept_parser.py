"""The parser of phrases is built once for an installation, and read by later processes."""

import os
import sys
from importlib.util import cache_from_source
from pathlib import Path

import lark.lark
import pytest

from tapestry.query.phrases import grammar as phrases

TEXT = 'from mary and about "lunch"'


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Where the parser of one phrase is kept, apart from that of this installation."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = Path(f"{cache_from_source(phrases.__file__)}.start")
    path.parent.mkdir(parents=True)
    return path


def parsed():
    return phrases.grammar.__wrapped__().parse(TEXT)


def test_what_was_kept_is_read_and_parses_the_same(kept, monkeypatch):
    built = parsed()
    monkeypatch.setattr(lark.lark, "load_grammar", None)
    assert parsed() == built


@pytest.mark.parametrize("share", [0, 2])
def test_what_is_damaged_is_built_again(kept, share):
    built = parsed()
    content = kept.read_bytes()
    kept.write_bytes(content[: len(content) * share // 3])
    assert parsed() == built
    assert kept.stat().st_size > len(content) * 0.9


def test_where_nothing_may_be_written_it_is_built(kept, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert parsed() == phrases.grammar().parse(TEXT)
    assert not kept.exists()
