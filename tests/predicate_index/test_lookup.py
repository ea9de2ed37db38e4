"""The index, read into memory or asked through Spark, answers what loops do."""

import random

import pytest
from support.memory_index import NaiveLookup

from tapestry.core.ports import DueFilter
from tapestry.plan.compile import compile_filter
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index import store as tables
from tapestry.predicate_index.lookup import InMemoryLookup
from tapestry.predicate_index.spark_directory import SparkDirectory, lookup
from tapestry.predicate_index.store import PredicateIndex
from tapestry.query.context import Context
from tapestry.run.shared_window import index_entries
from tapestry.spark.session import LOCAL, connect

TEXTS = ("from joe@x.org", "from ann@x.org", "about lunch", "in comp.*", "three weeks old",
         "about lunch or from joe@x.org", "voted for by more than 2 people")  # fmt: skip
WHO = (("public",), ("public", "user:ann"), ("public", "group:parc", "user:joe"))


def entered(index, count):
    chance = random.Random(3)
    for number in range(count):
        due = DueFilter(number, chance.choice(TEXTS), "ann", (), chance.choice(WHO), 0, None)
        index.add(*index_entries(due, compile_filter(due.text, Context())))


def by_spark(index):
    return SparkDirectory(lambda: connect(LOCAL), index)


@pytest.mark.parametrize("kind", (InMemoryLookup, by_spark))
@pytest.mark.parametrize("present", (["public"], ["public", "user:joe"], ["user:ann", "public"]))
def test_it_finds_the_classes_and_who_belongs_to_them(tmp_path, present, kind):
    index = PredicateIndex(tmp_path)
    entered(index, 30)
    found, memory = kind(index), NaiveLookup.of(index)
    assert found.extractors() == memory.extractors()
    keys = {PredicateKey(e.extractor, e.offset, e.token) for e in memory.entries[::2]}
    keys |= {
        PredicateKey("messages is sender", 0, "nobody@x.org"),
        PredicateKey("messages any -", 5, ""),
    }
    classes = found.candidate_groups(keys, present)
    assert classes == memory.candidate_groups(keys, present)
    assert len(classes) > 3
    assert set(found.members(classes, present)) == set(memory.members(classes, present))
    some = classes[::2]
    assert set(found.members(some, present)) == set(memory.members(some, present)) != set()
    assert found.candidate_groups([], present) == found.members([], present) == []


def test_what_is_kept_in_memory_is_bounded(tmp_path):
    index = PredicateIndex(tmp_path)
    assert isinstance(lookup(by_spark, index), InMemoryLookup)
    entered(index, 3)
    entries = len(NaiveLookup.of(index).entries)
    assert isinstance(lookup(by_spark, index, most=entries), InMemoryLookup)
    assert isinstance(lookup(by_spark, index, most=entries - 1), SparkDirectory)


def test_tidying_merges_files_and_drops_what_is_past(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MANY", 5)
    index = PredicateIndex(tmp_path)
    entered(index, 4)
    assert not index.compact(dict.fromkeys)
    entered(index, 4)
    before = {e for e in NaiveLookup.of(index).entries if e.filter_id in (1, 3)}
    assert index.compact(lambda ids: {1: 0, 3: 0, 2: 7})
    assert len(index.files()) == 1
    assert set(NaiveLookup.of(index).entries) == before
    assert index.filter_count(next(iter(before)).signature) >= 1
