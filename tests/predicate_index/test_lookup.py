"""The predicate index, read into memory, answers what loops over its entries do."""

import random
from pathlib import Path

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.ports import DueFilter
from tapestry.plan.compile import compile_filter
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index import files, lookup, store
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.predicate_index.store import IndexFullError, PredicateIndex, index_entries
from tapestry.query.context import Context
from tests.support.engines.memory_index import NaiveLookup

TEXTS = ("from joe@x.org", "from ann@x.org", "about lunch", "in comp.*", "three weeks old",
         "about lunch or from joe@x.org", "voted for by more than 2 people")  # fmt: skip
WHO = (("public",), ("public", "user:ann"), ("public", "group:parc", "user:joe"))


def entered(index, count):
    chance = random.Random(3)
    for number in range(count):
        due = DueFilter(number, chance.choice(TEXTS), "ann", (), chance.choice(WHO), 0, None)
        index.add(*index_entries(due, compile_filter(due.text, Context())))


@pytest.mark.parametrize("present", (["public"], ["public", "user:joe"], ["user:ann", "public"]))
def test_it_finds_the_groups_and_their_members(tmp_path, present):
    index = PredicateIndex(tmp_path)
    entered(index, 30)
    found, naive = InMemoryLookup(index, present), NaiveLookup.of(index, present)
    assert found.extractors() == naive.extractors()
    keys = {key for _, key in naive.entries[::2]}
    keys |= {
        PredicateKey("messages is sender", 0, "nobody@x.org"),
        PredicateKey("messages any -", 5, ""),
    }
    groups = found.candidate_groups(keys)
    assert groups == naive.candidate_groups(keys)
    assert len(groups) > 3
    assert set(found.members(groups)) == set(naive.members(groups))
    half = groups[::2]
    assert set(found.members(half)) == set(naive.members(half)) != set()
    assert found.candidate_groups([]) == found.members([]) == []


def test_what_it_keeps_of_groups_is_bounded_and_follows_the_audiences(tmp_path, monkeypatch):
    index = PredicateIndex(tmp_path)
    entered(index, 10)
    entered(index, 30)
    naive = NaiveLookup.of(index)
    keys = {key for _, key in naive.entries}
    for most in (100, 1, 0):
        monkeypatch.setattr(lookup, "MOST_KNOWN", most)
        monkeypatch.setattr(lookup, "MOST_INTERNED", most)
        for present in (["public"], ["public", "user:joe"], ["public"], []):
            naive = NaiveLookup.of(index, present)
            asked = [key for n, key in enumerate(sorted(keys, key=str)) if n % 3 or most]
            for subset in (asked, asked[::2]):
                groups = InMemoryLookup(index, present).candidate_groups(subset)
                assert groups == naive.candidate_groups(subset)


def test_what_is_kept_in_memory_is_bounded(tmp_path, monkeypatch):
    index = PredicateIndex(tmp_path)
    entered(index, 3)
    before = NaiveLookup.of(index).entries
    monkeypatch.setattr(store, "MOST_ENTRIES", len(before))
    assert index.room() == 0
    with pytest.raises(IndexFullError, match="1 filters are not in it") as refused:
        entered(index, 1)
    assert "nothing is lost" in refused.value.hint
    assert NaiveLookup.of(index).entries == before


def test_compaction_merges_files_and_drops_past_revisions(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "MANY_FILES", 5)
    index = PredicateIndex(tmp_path)
    entered(index, 4)
    assert not index.compact(dict.fromkeys)
    entered(index, 4)
    before = {e for e in NaiveLookup.of(index).entries if e[0].filter_id in (1, 3)}
    assert index.compact(lambda filter_ids: {1: 0, 3: 0, 2: 7})
    assert len(index.files()) == 1
    assert set(NaiveLookup.of(index).entries) == before
    assert index.filter_counts()[next(iter(before))[0].group.signature] >= 1


def test_a_full_index_is_compacted_at_once_and_then_every_hour(tmp_path, monkeypatch):
    index = PredicateIndex(tmp_path)
    entered(index, 2)
    assert index.compact(lambda filter_ids: {0: 0, 1: 0}, full=True)
    assert not index.compact(lambda filter_ids: {0: 0}, full=True)
    monkeypatch.setattr(store, "SHRINK_EVERY", -1)
    assert index.compact(lambda filter_ids: {0: 0}, full=True)
    assert {member.filter_id for member, _ in NaiveLookup.of(index).entries} == {0}


def test_a_write_that_loses_or_fails_leaves_no_file(tmp_path, monkeypatch):
    index = PredicateIndex(tmp_path)
    entered(index, 1)
    before = sorted(tmp_path.rglob("*.parquet"))
    with monkeypatch.context() as patch:
        patch.setattr(files, "newest_version", lambda path: 0)
        with pytest.raises(TapestryError, match="Another process enters filters"):
            entered(index, 1)
    with monkeypatch.context() as patch:
        patch.setattr("tapestry.tables.delta.draft.add_action", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            entered(index, 1)
    assert sorted(tmp_path.rglob("*.parquet")) == before


def test_a_file_of_a_process_that_died_goes_with_the_next_merge(tmp_path):
    index = PredicateIndex(tmp_path)
    entered(index, 2)
    stray = Path(index.files()[0]).with_name("part-of-somebody-who-died.zstd.parquet")
    stray.write_bytes(b"PAR1")
    assert index.compact(lambda filter_ids: {0: 0, 1: 0}, full=True)
    assert not stray.exists() and all(Path(file).exists() for file in index.files())
