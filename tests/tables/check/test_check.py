"""Whatever byte of whatever file is damaged: it is named, and nothing is lost or added twice."""

from __future__ import annotations

import multiprocessing
import random
import shutil
from collections import defaultdict
from itertools import count
from pathlib import Path

import pytest

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.files.mirror import is_mirror, mirror_of
from tapestry.core.message import Message
from tapestry.predicate_index.check import check_predicate_index
from tapestry.predicate_index.store import PredicateIndex
from tapestry.tables.check.data import check_tables
from tapestry.tables.check.repair import repair
from tapestry.tables.check.report import RESTORE, Report
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget.forget import TABLES, forget
from tapestry.tables.keys.tombstones import find_tombstones
from tapestry.tables.read.messages import lookup, message
from tapestry.tables.read.originals import Original
from tapestry.tables.rows import arrow_schema
from tapestry.tables.write.append import Cursor, append_messages, cursor_of
from tapestry.tables.write.compact import compact
from tests.support.clocks import FileClock
from tests.support.faults.damaged_data import (
    BATCH,
    MESSAGES,
    append,
    build,
    files,
    forget_what_is_known,
    strike,
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("built") / "tables"
    build(root)
    return root


@pytest.fixture
def root(built, tmp_path):
    shutil.copytree(built, tmp_path / "tables")
    forget_what_is_known()
    yield tmp_path / "tables"
    forget_what_is_known()


def check(root):
    forget_what_is_known()
    report = Report()
    check_tables(root, report)
    check_predicate_index(root, report)
    return report


def damaged(root):
    return {damage.path for damage in check(root).damages}


def ingest_all_again(root):
    """Append all mail as if its source began again, and look at all; return what was new."""
    tables = Tables(root)
    new = append(tables, 0, MESSAGES)
    assert sum(file.rows for file in tables.data_files("messages")) == MESSAGES + new
    names, columns = [f"m{n}" for n in range(MESSAGES)], arrow_schema("messages").names
    rows = lookup(tables, "messages", "msgid", names, ("public",), columns)
    assert sorted(row["msgid"] for row in rows) == sorted(names)
    assert all(message(tables, name, ("public",)) for name in names[::BATCH])
    assert find_tombstones(root, "user:joe", ["gone1", "m1"]) == {"gone1"}
    PredicateIndex(root).drop_if_damaged()
    return new


def test_a_data_directory_as_it_was_written_is_whole(root):
    report = check(root)
    assert not report.damages
    facts = sum(file.rows for file in Tables(root).data_files("threads"))
    assert facts >= MESSAGES
    assert report.counts["data files"]["rows"] == 2 * MESSAGES + MESSAGES // 4 + facts
    assert report.counts["originals"]["originals"] == MESSAGES
    assert {"logs", "data files", "indexes", "tombstones", "staged imports"} < {*report.counts}
    assert report.counts["predicate index"]["rows"] == 3


def struck(root, path, chance):
    """Damage a file; return what the check, and the engine, say of it."""
    whole = path.read_bytes()
    how = strike(path, chance)
    named = damaged(root)
    assert named == {str(path)}, (path.name, how, named)
    before = {file: file.read_bytes() for file in files(root)}
    forget_what_is_known()
    try:
        assert ingest_all_again(root) == 0, (path.name, how)
    except DamagedFileError as error:
        assert error.path == str(path), (path.name, how, error.path)
    for file in files(root):
        if before.get(file) != file.read_bytes():
            file.unlink()
    for file, content in before.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    path.write_bytes(whole)


def one_of_each_kind(root, chance):
    """Return a file of each ending in the directories of each name."""
    kinds = defaultdict(list)
    for path in files(root):
        kinds[path.parent.name, path.suffix].append(path)
    return [chance.choice(paths) for paths in kinds.values()]


def test_a_damaged_file_is_named_and_nothing_is_lost_or_comes_twice(root):
    chance = random.Random(1)
    for path in one_of_each_kind(root, chance):
        struck(root, path, chance)


def test_a_mirror_that_was_cut_where_its_file_ends_is_named(root):
    """It is that file then, which has checksums of its own."""
    mirrored = [path for path in files(root) if mirror_of(path).exists()]
    checksummed = [path for path in mirrored if path.parent.name != "_delta_log"]
    for path in checksummed:
        content = mirror_of(path).read_bytes()
        mirror_of(path).write_bytes(path.read_bytes())
        assert damaged(root) == {str(mirror_of(path))}
        path.write_bytes(b"damaged")
        (damage,) = check(root).damages
        assert (damage.path, damage.remedy) == (str(path), RESTORE)
        path.write_bytes(mirror_of(path).read_bytes())
        mirror_of(path).write_bytes(content)
    assert {path.parent.name for path in checksummed} >= {"forgetting"}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 30))
def test_many_damaged_files_are_named_and_nothing_is_lost(root, seed):
    chance = random.Random(seed)
    for path in files(root):
        struck(root, path, chance)


def test_a_file_that_is_missing_is_named(root):
    path = Path(Tables(root).data_files("messages")[0].path)
    path.unlink()
    assert damaged(root) >= {str(path)}


def test_a_check_changes_nothing(root):
    for path in files(root)[::3]:
        strike(path, random.Random(2))
    before = {path: path.read_bytes() for path in files(root)}
    check(root)
    assert {path: path.read_bytes() for path in files(root)} == before


def test_an_index_that_does_not_agree_with_its_table_is_named(root):
    (run,) = (root / "index" / "messages.msgid").glob("*.sorted")
    other = next((root / "index" / "messages.inreplyto").glob("*.sorted"))
    low, high, _ = run.stem.split("_")
    run.unlink()
    count = other.stem.split("_")[2]
    wrong = run.with_name(f"{low}_{high}_{count}.sorted")
    wrong.write_bytes(other.read_bytes())
    assert damaged(root) == {str(wrong)}


def repaired(root):
    sentences = "\n".join(repair(Tables(root)))
    forget_what_is_known()
    return sentences


def repaired_after(root, path, chance):
    """Damage a file and repair; what is not whole then is named, and a backup has it."""
    shutil.copytree(root, root.with_name("backup"))
    how = strike(path, chance)
    forget_what_is_known()
    PredicateIndex(root).drop_if_damaged()
    said = repaired(root)
    report = check(root)
    assert {damage.path for damage in report.damages} <= {str(path)}, (path.name, how, said)
    if report.damages:
        assert {damage.remedy for damage in report.damages} == {RESTORE}
        assert path.suffix == ".parquet" and path.parent.parent == root
        shutil.rmtree(root)
        root.with_name("backup").rename(root)
        forget_what_is_known()
    assert ingest_all_again(root) == 0
    assert cursor_of(Tables(root), "box").version == MESSAGES


@pytest.mark.parametrize("part", range(6))
def test_after_a_repair_all_is_whole_or_is_to_be_restored(root, part):
    chance = random.Random(part)
    repaired_after(root, chance.choice(files(root)), chance)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6, 150))
def test_a_repair_of_each_of_many_files(root, seed):
    chance = random.Random(seed)
    repaired_after(root, chance.choice(files(root)), chance)


def test_a_repair_mends_what_has_a_mirror_and_loses_nothing(root):
    for table in TABLES:
        entry = max((root / table / "_delta_log").glob("*.json"))
        entry.write_bytes(b"")
    for directory in ("index", "removed"):
        for path in (root / directory).rglob("*.sorted"):
            if not is_mirror(path.parent):
                path.write_bytes(path.read_bytes()[:-3])
    repaired(root)
    assert not check(root).damages
    assert ingest_all_again(root) == 0
    assert cursor_of(Tables(root), "box").version == MESSAGES


def test_a_repair_writes_mirrors_again(root):
    mirrors = [path for path in files(root) if is_mirror(path.parent)]
    contents = {path: path.read_bytes() for path in mirrors}
    for path in mirrors:
        path.write_bytes(b"")
    assert damaged(root) >= {str(path) for path in mirrors if "predicate" not in str(path)}
    PredicateIndex(root).drop_if_damaged()
    repaired(root)
    assert not check(root).damages
    kept = {path: path.read_bytes() for path in contents if path.exists()}
    assert kept == {path: contents[path] for path in kept} and len(kept) > 10


@pytest.mark.parametrize("position", [-1, -2])
def test_an_entry_that_is_lost_with_its_mirror_stays_as_it_is_and_a_backup_has_it(root, position):
    entry = sorted((root / "messages" / "_delta_log").glob("*.json"))[position]
    before = {path: path.read_bytes() for path in files(root / "messages")}
    entry.write_bytes(b"")
    mirror_of(entry).unlink()
    with pytest.raises(DamagedFileError):
        Tables(root).data_files("messages")
    repaired(root)
    (damage,) = check(root).damages
    assert (damage.path, damage.remedy) == (str(entry), RESTORE)
    with pytest.raises(DamagedFileError):
        append(Tables(root), 0, MESSAGES)
    del before[entry], before[mirror_of(entry)]
    assert {path: path.read_bytes() for path in before} == before


def test_a_damaged_checkpoint_without_a_mirror_is_deleted_if_older_entries_are_whole(root):
    log = root / "messages" / "_delta_log"
    for checkpoint in log.glob("*.checkpoint.parquet"):
        checkpoint.write_bytes(b"PAR1")
        mirror_of(checkpoint).unlink()
    is_whole = (log / f"{0:020}.json").exists()
    repaired(root)
    assert bool(check(root).damages) is not is_whole
    if is_whole:
        assert ingest_all_again(root) == 0


def _grow(root):
    """Append, merge and remove old mail for ever."""
    tables, clock = Tables(root), FileClock(root / "clock")
    for n in count():
        raw = [Original(b"raw")]
        append_messages(tables, clock, [Message(f"n{n}")], Cursor("n", n), originals=raw)
        if n % 7 == 0:
            compact(tables, keep_hours=24)
        if n % 20 == 0:
            forget(tables, clock, "user:joe", before=1)


@pytest.mark.parametrize("versions", [25, pytest.param(60, marks=pytest.mark.long)])
def test_a_check_while_others_append_and_merge_finds_nothing(root, versions):
    (root / "clock").touch()
    process = multiprocessing.get_context("spawn").Process(target=_grow, args=(root,))
    process.start()
    try:
        before = Tables(root).version("messages")[0]
        while Tables(root).version("messages")[0] < before + versions:
            report = check(root)
            assert not report.damages, report.damages
    finally:
        process.kill()
        process.join()
    assert not check(root).damages
