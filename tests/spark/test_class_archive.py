"""The archive of Spark's classes, as a JVM writes it when it ends."""

import time

import pytest

from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import spawn
from tapestry.spark import class_archive
from tapestry.spark import server as spark_server

WAIT = "; : > ready; while :; do sleep 0.1; done"
WHOLE = "trap 'printf whole > classes.new; exit 143' TERM" + WAIT
CUT = "trap '' TERM; printf half > classes.new" + WAIT
NOTHING = "trap 'exit 143' TERM" + WAIT


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Where an archive of before is; a shell stands for the JVM."""
    old = tmp_path / "classes.jsa"
    old.write_text("old")
    monkeypatch.setattr(spark_server, "CLASSES", old)
    monkeypatch.setattr(spark_server.SparkServer, "wait", lambda *_: None)
    monkeypatch.setattr(class_archive, "connect", lambda *_: None)
    monkeypatch.setattr(class_archive, "_ask", lambda *_: wait_for(tmp_path / "ready"))
    return old


def wait_for(file):
    while not file.exists():
        time.sleep(0.01)


def make(archive, monkeypatch, jvm):
    place = archive.parent
    child = spawn("Spark", ["sh", "-c", jvm], place / "log", cwd=place)
    server = spark_server.SparkServer(child, 1, place, "")
    monkeypatch.setattr(spark_server, "start", lambda *_, **__: server)
    class_archive.make()


def test_what_the_jvm_has_written_replaces_the_archive_of_before(archive, monkeypatch):
    make(archive, monkeypatch, WHOLE)
    assert archive.read_text() == "whole"
    assert not archive.with_suffix(".new").exists()


@pytest.mark.parametrize("jvm", [CUT, NOTHING])
def test_none_is_kept_that_is_cut_off(archive, monkeypatch, jvm):
    monkeypatch.setattr(class_archive, "DUMP", 1.0)
    with pytest.raises(TapestryError, match="has not written an archive"):
        make(archive, monkeypatch, jvm)
    assert not archive.exists() and not archive.with_suffix(".new").exists()
