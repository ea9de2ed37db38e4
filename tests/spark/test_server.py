"""The Spark Connect server."""

import os
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tapestry.core.errors import TapestryError
from tapestry.spark import server as spark_server
from tapestry.spark import session as spark_session
from tapestry.spark.server import CLASSES
from tapestry.spark.session import LOCAL, connect
from tests.support.processes.listening_ports import listening_of_family


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("Unrecognized option: -version", None),
    ],
)
def test_the_version_of_java_is_read(said, version):
    assert spark_server.java_version(said) == version


def test_without_java_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TapestryError) as refused:
        spark_server.start(tmp_path)
    assert refused.value.message == "Spark needs Java 17 or newer, and there is none on the PATH."
    assert "https://adoptium.net" in refused.value.hint
    (tmp_path / "apt-get").touch(0o700)
    with pytest.raises(TapestryError) as refused:
        spark_server.start(tmp_path)
    assert "apt-get install openjdk-17-jre-headless" in refused.value.hint


def test_an_old_java_is_refused(tmp_path, monkeypatch):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(TapestryError, match=r"needs Java 17 or newer; .* is 11"):
        spark_server.find_java()


def test_only_a_server_that_runs_for_long_has_both_compilers_of_the_jvm(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(spark_server, "find_java", lambda: Path("/usr/bin/java"))
    monkeypatch.setattr(spark_server, "spawn", lambda _, command, *rest: started.append(command))
    monkeypatch.setattr(spark_server.SparkServer, "wait", lambda server: None)
    monkeypatch.setattr(spark_server.SparkServer, "stop", lambda server: None)
    monkeypatch.delenv("TAPESTRY_SPARK_JVM", raising=False)
    spark_server.start(tmp_path)
    with spark_server.serving(tmp_path):
        pass
    monkeypatch.setenv("TAPESTRY_SPARK_JVM", "-Xint")
    spark_server.start(tmp_path)
    assert ["TieredStopAtLevel=1" in " ".join(command) for command in started] == [0, 1, 0]
    assert "spark.driver.extraJavaOptions=-Xint" in started[-1]


@pytest.mark.parametrize("is_there", [True, False])
def test_the_archive_of_its_classes_is_used_where_it_has_been_made(tmp_path, monkeypatch, is_there):
    started = []
    archive = tmp_path / "with space" / "classes.jsa"
    archive.parent.mkdir()
    if is_there:
        archive.touch()
    monkeypatch.setattr(spark_server, "CLASSES", archive)
    monkeypatch.setattr(spark_server, "find_java", lambda: Path("/usr/bin/java"))
    monkeypatch.setattr(spark_server, "spawn", lambda _, command, *rest: started.append(command))
    spark_server.start(tmp_path)
    assert (f'"-XX:SharedArchiveFile={archive}"' in " ".join(started[0])) == is_there


@pytest.mark.spark
def test_the_jvm_has_taken_the_archive(spark_server):
    """One that was made for another Java or other packages is opened, and given up."""
    port, family = urlsplit(spark_server).port, listening_of_family(os.getpid())
    (jvm,) = [pid for pid, sockets in family.items() if port in {place[1] for place in sockets}]
    mapped = psutil.Process(jvm).memory_maps()
    assert CLASSES.name in {Path(part.path).name for part in mapped}


@pytest.mark.spark
def test_it_answers_on_loopback_alone(spark_server):
    session = SparkSession.builder.remote(spark_server).create()
    assert session.sql("SELECT 1 + 1").collect()[0][0] == 2
    session.stop()
    assert _listeners(urlsplit(spark_server).port) == {"0100007F"}


@pytest.mark.spark
def test_a_process_without_a_spark_opens_a_server_of_its_own(spark_server, monkeypatch):
    begun = []

    @contextmanager
    def serving(run):
        begun.append(run.is_dir())
        yield spark_server

    monkeypatch.setattr(spark_session, "serving", serving)
    monkeypatch.setattr(spark_session, "_sessions", {})
    session = connect(LOCAL)
    assert session.sql("SELECT 1 + 1").collect()[0][0] == 2
    assert connect(LOCAL) is session and begun == [True]
    session.stop()


@pytest.mark.spark
@pytest.mark.parametrize("token", ["", ";token=guess"])
def test_it_answers_nobody_without_its_token(spark_server, token):
    session = SparkSession.builder.remote(spark_server.partition(";")[0] + token).create()
    session.client.set_retry_policies([])
    with pytest.raises(PySparkException, match="authentication token"):
        session.sql("SELECT 1").collect()
    session.client.close()


def _listeners(port):
    """Addresses, in the kernel's hexadecimal, on which something listens at a port."""
    if not Path("/proc/net/tcp").exists():
        pytest.skip("Only Linux lists who listens in /proc.")
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            address, listened = line.split()[1].split(":")
            if int(listened, 16) == port and line.split()[3] == "0A":
                found.add(address if len(address) == 8 else _mapped(address))
    return found


def _mapped(address):
    """An IPv4 address that a socket of both kinds listens on, as the table of IPv4 has it."""
    return address[24:] if address[:24] == "0000000000000000FFFF0000" else address
