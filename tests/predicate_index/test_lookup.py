"""The register, read into memory or asked through Spark, answers what loops do."""

import random

import pytest
from support.memory_index import MemoryDirectory

from tapestry.core.ports import DueFilter
from tapestry.plan.compile import compile_filter
from tapestry.plan.predicate_keys import PredicateKey
from tapestry.predicate_index import store as tables
from tapestry.predicate_index.lookup import ArrowDirectory
from tapestry.predicate_index.spark_directory import SparkDirectory, directory
from tapestry.predicate_index.store import Register
from tapestry.query.context import Context
from tapestry.run.shared_window import entries_of
from tapestry.spark.session import LOCAL, connect

TEXTS = ("from joe@x.org", "from ann@x.org", "about lunch", "in comp.*", "three weeks old",
         "about lunch or from joe@x.org", "voted for by more than 2 people")  # fmt: skip
WHO = (("public",), ("public", "user:ann"), ("public", "group:parc", "user:joe"))


def entered(register, count):
    chance = random.Random(3)
    for number in range(count):
        due = DueFilter(number, chance.choice(TEXTS), "ann", (), chance.choice(WHO), 0, None)
        register.add(*entries_of(due, compile_filter(due.text, Context())))


def by_spark(register):
    return SparkDirectory(lambda: connect(LOCAL), register)


@pytest.mark.parametrize("kind", (ArrowDirectory, by_spark))
@pytest.mark.parametrize("present", (["public"], ["public", "user:joe"], ["user:ann", "public"]))
def test_it_finds_the_classes_and_who_belongs_to_them(tmp_path, present, kind):
    register = Register(tmp_path)
    entered(register, 30)
    found, memory = kind(register), MemoryDirectory.of(register)
    assert found.probes() == memory.probes()
    keys = {PredicateKey(e.probe, e.offset, e.token) for e in memory.entries[::2]}
    keys |= {
        PredicateKey("messages is sender", 0, "nobody@x.org"),
        PredicateKey("messages any -", 5, ""),
    }
    classes = found.classes(keys, present)
    assert classes == memory.classes(keys, present)
    assert len(classes) > 3
    assert set(found.holders(classes, present)) == set(memory.holders(classes, present))
    some = classes[::2]
    assert set(found.holders(some, present)) == set(memory.holders(some, present)) != set()
    assert found.classes([], present) == found.holders([], present) == []


def test_what_is_kept_in_memory_is_bounded(tmp_path):
    register = Register(tmp_path)
    assert isinstance(directory(by_spark, register), ArrowDirectory)
    entered(register, 3)
    entries = len(MemoryDirectory.of(register).entries)
    assert isinstance(directory(by_spark, register, most=entries), ArrowDirectory)
    assert isinstance(directory(by_spark, register, most=entries - 1), SparkDirectory)


def test_tidying_merges_files_and_drops_what_is_past(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MANY", 5)
    register = Register(tmp_path)
    entered(register, 4)
    assert not register.tidy(dict.fromkeys)
    entered(register, 4)
    before = {e for e in MemoryDirectory.of(register).entries if e.fid in (1, 3)}
    assert register.tidy(lambda ids: {1: 0, 3: 0, 2: 7})
    assert len(register.files()) == 1
    assert set(MemoryDirectory.of(register).entries) == before
    assert register.alike(next(iter(before)).signature) >= 1
