"""Whatever byte of whatever file is damaged: it is named, and nothing is lost or added twice."""

from __future__ import annotations

import multiprocessing
import random
import re
import shutil
from itertools import count
from pathlib import Path

import pytest
from support.clocks import FileClock
from support.damaged_data import MESSAGES, append, build, files, forget_what_is_known, strike

from tapestry.core.files.damage import DamagedFileError
from tapestry.core.message import Message
from tapestry.predicate_index.check import check_predicate_index
from tapestry.predicate_index.store import PredicateIndex
from tapestry.tables.append import Cursor, append_messages, cursor_of
from tapestry.tables.check import repair as repair_module
from tapestry.tables.check.data import check_tables
from tapestry.tables.check.repair import Repair
from tapestry.tables.check.report import Report
from tapestry.tables.compact import compact
from tapestry.tables.delta.log import Tables
from tapestry.tables.forget import TABLES, forget
from tapestry.tables.originals import Original
from tapestry.tables.read import message
from tapestry.tables.tombstones import find_tombstones


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
    assert all(message(tables, f"m{n}", ("public",)) for n in range(MESSAGES))
    assert find_tombstones(root, "user:joe", ["gone1", "m1"]) == {"gone1"}
    PredicateIndex(root).drop_if_damaged()
    return new


def test_a_data_directory_as_it_was_written_is_whole(root):
    report = check(root)
    assert not report.damages
    assert report.counts["data files"]["rows"] == 2 * MESSAGES + MESSAGES // 4
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


def test_a_damaged_file_is_named_and_nothing_is_lost_or_comes_twice(root):
    chance = random.Random(1)
    for path in files(root):
        struck(root, path, chance)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 30))
def test_so_is_each_of_many(root, seed):
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
    repair = Repair(Tables(root))
    repair.run()
    repair.end()
    forget_what_is_known()
    said = "\n".join(repair.said)
    remain = {damage.kind for damage in check(root).damages}
    assert remain == ({"originals"} if "rows of originals are lost" in said else set())
    return said


def repaired_after(root, path, chance):
    """Damage a file and repair; all that is lost must be said, and come again."""
    how = strike(path, chance)
    forget_what_is_known()
    PredicateIndex(root).drop_if_damaged()
    said = repaired(root)
    lost = re.search(r"(\d+) rows of messages are lost", said)
    new = append(Tables(root), 0, MESSAGES)
    assert new == (int(lost[1]) if lost else 0), (path.name, how, said)
    assert ingest_all_again(root) == 0


@pytest.mark.parametrize("part", range(6))
def test_after_a_repair_all_is_whole_and_what_is_lost_was_said(root, part):
    chance = random.Random(part)
    repaired_after(root, chance.choice(files(root)), chance)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6, 150))
def test_so_is_it_after_each_of_many(root, seed):
    chance = random.Random(seed)
    repaired_after(root, chance.choice(files(root)), chance)


def test_a_repair_mends_what_has_a_copy_and_loses_nothing(root):
    for table in TABLES:
        entry = max((root / table / "_delta_log").glob("*.json"))
        entry.write_bytes(b"")
    for path in (*(root / "index").rglob("*.sorted"), *(root / "removed").rglob("*.tombstones")):
        path.write_bytes(path.read_bytes()[:-3])
    assert "lost" not in repaired(root)
    assert ingest_all_again(root) == 0
    assert cursor_of(Tables(root), "box").version == MESSAGES


@pytest.mark.parametrize("position", [-1, -2])
def test_a_repair_finds_the_rows_of_an_entry_that_is_lost_with_its_copy(root, position):
    entry = sorted((root / "messages" / "_delta_log").glob("*.json"))[position]
    entry.write_bytes(b"")
    shutil.rmtree(root / "messages" / "_log_copy")
    with pytest.raises(DamagedFileError):
        Tables(root).data_files("messages")
    assert "4 rows that no other entry has were found" in repaired(root)
    assert (root.parent / "damaged" / "tables" / "messages" / "_delta_log" / entry.name).exists()
    assert ingest_all_again(root) == 0


def test_a_repair_that_dies_leaves_a_damaged_entry_where_it_is(root, monkeypatch):
    entry = max((root / "messages" / "_delta_log").glob("*.json"))
    entry.write_bytes(b"")
    shutil.rmtree(root / "messages" / "_log_copy")

    def killed(*_, **__):
        raise SystemExit

    with monkeypatch.context() as cut, pytest.raises(SystemExit):
        cut.setattr(repair_module, "_strays", killed)
        repaired(root)
    with pytest.raises(DamagedFileError):
        Tables(root).data_files("messages")
    assert "4 rows that no other entry has were found" in repaired(root)


def test_a_repair_that_dies_once_mail_is_lost_is_ended_by_the_next(root, monkeypatch):
    file = Tables(root).data_files("messages")[-1]
    Path(file.path).write_bytes(Path(file.path).read_bytes()[:40])

    def killed(*_):
        raise SystemExit

    with monkeypatch.context() as cut, pytest.raises(SystemExit):
        cut.setattr(repair_module.Repair, "_mend_tombstones", killed)
        cut.setattr(repair_module.Repair, "_set_cursors_back", killed)
        repaired(root)
    assert "a repair was cut short" in {damage.reason for damage in check(root).damages}
    assert "is read again from its start" in repaired(root)
    assert append(Tables(root), 0, MESSAGES) == 4


def test_a_repair_says_what_is_lost_and_its_sources_bring_it_again(root):
    file = Tables(root).data_files("messages")[-1]
    Path(file.path).write_bytes(Path(file.path).read_bytes()[:40])
    said = repaired(root)
    assert "4 rows of messages are lost; 0 were saved." in said
    assert "The source of box is read again from its start." in said
    assert cursor_of(Tables(root), "box") is None
    assert append(Tables(root), 0, MESSAGES) == 4
    assert ingest_all_again(root) == 0
    assert (root.parent / "damaged" / "tables" / "messages" / Path(file.path).name).exists()


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


def test_a_check_while_others_append_and_merge_finds_nothing(root):
    (root / "clock").touch()
    process = multiprocessing.get_context("spawn").Process(target=_grow, args=(root,))
    process.start()
    try:
        before = Tables(root).version("messages")[0]
        while Tables(root).version("messages")[0] < before + 60:
            report = check(root)
            assert not report.damages, report.damages
    finally:
        process.kill()
        process.join()
    assert not check(root).damages
