"""Start and stop the Spark Connect server that comes with the pyspark package.

One JVM on this machine, bound to loopback and tuned for many short statements; it downloads
nothing.  If ``SPARK_REMOTE`` names a server, that one is used instead.
"""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tapestry.core.errors import TapestryError
from tapestry.core.log import event
from tapestry.core.processes.child_process import Child, free_port, listens, spawn, stop
from tapestry.core.processes.listeners import is_strangers

JAVA_HINTS = {
    "apt-get": "Install it with: apt-get install openjdk-17-jre-headless",
    "dnf": "Install it with: dnf install java-17-openjdk-headless",
    "zypper": "Install it with: zypper install java-17-openjdk-headless",
    "pacman": "Install it with: pacman -S jre17-openjdk-headless",
    "apk": "Install it with: apk add openjdk17-jre-headless",
    "brew": "Install it with: brew install openjdk@17",
}
"""How Java is installed, by the program that a system installs with."""
JVM_OPTIONS = (
    "-XX:+UseSerialGC -Xshare:auto -XX:ReservedCodeCacheSize=512m -XX:+ExitOnOutOfMemoryError "
    "-Xms320m -XX:NewSize=160m "
    "-XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=40 -XX:-ShrinkHeapInSteps"
)
"""Options of a server that runs for days.  To analyse and plan a statement is Java code that runs
again and again: after some minutes both compilers of the JVM halve it.  With the default cache it
stops compiling after some minutes of different statements.  Without ExitOnOutOfMemoryError it would
go on without answering.  The heap would grow to its limit before garbage is looked for, and stay:
it begins small, and each collection of all (``COLLECT``) gives back what is free.  Half of it is
for what is new: with less, much that a statement leaves behind waits for such a collection."""

COLLECT = "5min"
"""How often Spark has the JVM collect all garbage: a third of a second."""

SHORT_LIVED = f"-XX:TieredStopAtLevel=1 {JVM_OPTIONS}"
"""Options of a server that ends with a command or test, or may be restarted: the quick compiler
alone.  On 2 cores it starts a second sooner, and its first statements take three quarters of the
time."""

CLASSES = Path(sys.prefix) / "spark-classes.jsa"
"""The classes of Spark as the JVM holds them in memory, made once for an installation by
``tapestry.spark.class_archive``: with it a server starts, and answers first, in half the time.  The
JVM makes nothing of one that was made for another Java, other packages or another place."""

NAMES = ("Spark", "The second Spark")
"""Words for the server of proven and that of unproven statements."""

LOG = "spark.log"
"""The log of a server, in its directory."""

UNPROVEN_SLOTS = 4 * (os.cpu_count() or 1)

CODE_CACHE = 2000
"""Classes of generated code that are kept.  A statement that counts has about a hundred of them, as
many as Spark keeps by default: then it would compile all of them each time, and run them cold."""

SECRECY = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.network.crypto.saslFallback": "false",
    "spark.network.crypto.cipher": "AES/GCM/NoPadding",
    "spark.connect.grpc.port.maxRetries": "0",
}
"""Beside the port of Spark Connect, which wants the token, a Spark has two more for its executors.
They take Java objects, so they want a secret too: where the driver is the executor, Spark makes it
at its start, in memory, and tells nobody.  If the port is taken, Spark ends, rather than share its
token with whoever took it."""

LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.stdout.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex{short}
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
"""


@dataclass(frozen=True)
class SparkServer:
    """A Spark Connect server that this process started, and its token."""

    child: Child
    port: int
    run: Path
    token: str
    unproven: bool = False

    @property
    def remote(self) -> str:
        """Return the address for ``SPARK_REMOTE``.  It is a secret: with it one can read all mail.

        The host is a name, because clients send no token over plain text to an IP address.
        """
        return f"sc://localhost:{self.port}/;token={self.token}"

    def wait(self, timeout: float = 90.0) -> None:
        """Wait until the server accepts connections; TapestryError if it ends or is too slow."""
        deadline = time.monotonic() + timeout
        while is_strangers(self.port, os.geteuid()) or not listens(self.port):
            if not self.child.alive:
                raise TapestryError(f"{self.child.describe_exit()}.")
            if time.monotonic() > deadline:
                raise TapestryError(
                    f"Spark does not answer on port {self.port} after {timeout:.0f} s.",
                    hint=f"See {self.child.log}.",
                )
            time.sleep(0.1)

    def stop(self) -> None:
        """End the server and its child processes."""
        stop([self.child], grace=3.0)

    def restart(self) -> SparkServer:
        """End the server, if it still runs, and start another, with a new port and a new token.

        Whoever has taken the port meanwhile is not asked, and gets no token that is still good.
        """
        event("spark_restart", port=self.port, was_running=self.child.alive)
        self.stop()
        return start(self.run, unproven=self.unproven, again=True)


def start(
    run: Path,
    *,
    jvm_options: str | None = None,
    unproven: bool = False,
    again: bool = False,
) -> SparkServer:
    """Start a server with its log, settings and scratch files in ``run``; do not wait for it.

    Where a server is started ``again``, the log of the earlier one is continued.
    ``TAPESTRY_SPARK_MEMORY`` (default 2g) bounds its heap, ``TAPESTRY_SPARK_JVM`` replaces
    ``jvm_options``.  A server for ``unproven`` statements gives way to all other processes, and
    has room for more tasks than cores: one that does not end leaves some to others.  Raise
    TapestryError if there is no Java 17 or newer.
    """
    java = find_java()
    port, token = free_port(), secrets.token_urlsafe(32)
    scratch, output, logging_file = (
        run / name for name in ("spark-scratch", LOG, "log4j2.properties")
    )
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    logging_file.write_text(LOGGING)
    home = _spark_home()
    env = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    env |= {
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_DIRS": str(scratch),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_HOME": str(java.parent.parent),
        "SPARK_CONNECT_AUTHENTICATE_TOKEN": token,
    }
    if not again:
        output.write_bytes(b"")
    jvm_options = jvm_options or (SHORT_LIVED if unproven else JVM_OPTIONS)
    options = os.environ.get("TAPESTRY_SPARK_JVM", jvm_options)
    slots = f"local[{UNPROVEN_SLOTS}]" if unproven else "local[*]"
    command = [str(home / "bin" / "spark-submit"), *_arguments(port, slots, options, logging_file)]
    if unproven:
        command = ["nice", "-n", "5", *command]
    child = spawn(NAMES[unproven], command, output, env, run)
    return SparkServer(child, port, run, token, unproven)


@contextmanager
def serving(run: Path, jvm_options: str = SHORT_LIVED) -> Iterator[str]:
    """Yield the remote of a server that runs as long as the context does."""
    server = start(run, jvm_options=jvm_options)
    try:
        server.wait()
        yield server.remote
    finally:
        server.stop()


def find_java() -> Path:
    """Return the ``java`` to use (JAVA_HOME's, else the PATH's); TapestryError below 17."""
    home = os.environ.get("JAVA_HOME")
    executable = shutil.which("java", path=f"{home}/bin" if home else None)
    if executable is None:
        where = f"in JAVA_HOME ({home})" if home else "on the PATH"
        raise TapestryError(
            f"Spark needs Java 17 or newer, and there is none {where}.", hint=java_hint()
        )
    java = Path(executable).resolve()
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = java_version(output)
    if version is None or version < 17:
        raise TapestryError(
            f"Spark needs Java 17 or newer; {java} is {version or 'unreadable'}.", hint=java_hint()
        )
    return java


def java_hint() -> str:
    """Return how Java is installed on this system."""
    hints = (hint for name, hint in JAVA_HINTS.items() if shutil.which(name))
    return next(hints, "Install it: https://adoptium.net has it for every system.")


def java_version(output: str) -> int | None:
    """Return the feature number in the output of ``java -version``.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('version "1.8.0_402"')
    (17, 8)
    """
    version = re.search(r'version "(?:1\.)?(\d+)', output)
    return int(version[1]) if version else None


def _spark_home() -> Path:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise TapestryError("The package pyspark is not installed.", hint="Run: make run")
    return Path(spec.origin).resolve().parent  # the archive of classes has been made for it


def _arguments(port: int, master: str, jvm_options: str, logging_file: Path) -> list[str]:
    fixed = [f"-Dlog4j2.configurationFile={logging_file.absolute().as_uri()}"]
    if CLASSES.exists():
        fixed.append(f'"-XX:SharedArchiveFile={CLASSES}"')
    settings = {
        "spark.cleaner.periodicGC.interval": COLLECT,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.defaultJavaOptions": " ".join(fixed),
        "spark.driver.extraJavaOptions": jvm_options,
        "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.codegen.cache.maxEntries": str(CODE_CACHE),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": "spark-scratch/warehouse",
        "spark.ui.enabled": "false",
        **SECRECY,
    }
    arguments = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    arguments += ["--name", "tapestry", "--master", master]
    arguments += ["--driver-memory", os.environ.get("TAPESTRY_SPARK_MEMORY", "2g")]
    for name, value in settings.items():
        arguments += ["--conf", f"{name}={value}"]
    return [*arguments, "spark-internal"]
