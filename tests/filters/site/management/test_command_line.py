"""The command line: our commands first, a data directory for each, and words before imports."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.core.management import load_command_class

from filters.site.management.command_line import (
    WITHOUT_DATA,
    Utility,
    called,
    choose_data_directory,
    ours,
)
from filters.site.work.parts.addresses import LOCK, UNPROVEN, spark_remote
from tapestry.core.files.file_lock import file_lock
from tests.support.paths import ROOT
from tests.support.processes import forked


def manage(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return forked.run(
        ["manage.py", *arguments],
        cwd=ROOT, env={"PATH": "/usr/bin:/bin", **environ}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def taken_in(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What was printed as a letter was taken in, and the data directory that was chosen."""
    root = tmp_path_factory.mktemp("chosen")
    letter, data = root / "a.eml", root / "there"
    letter.write_bytes(b"From: joe@x.org\nMessage-ID: <1@x>\nSubject: hello\n\nHello.\n")
    done = manage("ingest", str(letter), "--data", str(data), TAPESTRY_DATA=str(root / "no"))
    return done.stdout, data


def test_help_names_our_commands_first() -> None:
    shown = manage("--help").stdout
    assert shown.index("    up ") < shown.index("[auth]") and "[site]" not in shown
    for name in (module.replace("_", "-") for module in ours()):
        assert f"\n    {name} " in shown
    assert "ask FILTER" in shown and "what matches now, the newest first." in shown
    assert set(manage("help", "--commands").stdout.split()) > set(ours())


def imported_by(program: str, data: Path) -> set[str]:
    """Return the modules that a program has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}; import sys; print(*sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=300,
        env={"DJANGO_SETTINGS_MODULE": "tapestry.settings", "TAPESTRY_DATA": str(data)},
    )  # fmt: skip
    return set(done.stdout.split())


def test_what_few_commands_need_is_imported_by_these(tmp_path: Path) -> None:
    imported = imported_by("import django; django.setup()", tmp_path)
    large = {"celery", "deltalake", "lark", "numpy", "pandas", "pyarrow", "pyspark", "sqlglot"}
    assert "filters.inbox.models" in imported and not large & imported


def test_no_worker_imports_the_pages(tmp_path: Path) -> None:
    program = "from tapestry.celery import app; app.loader.import_default_modules()"
    imported = imported_by(program, tmp_path)
    assert "filters.runs.tasks" in imported and not {"tapestry.urls", "icalendar"} & imported


def test_the_system_checks_of_django_find_nothing() -> None:
    assert manage("check", "--fail-level", "WARNING").returncode == 0


@pytest.mark.parametrize("name", sorted(set(ours()) - WITHOUT_DATA))
def test_every_command_takes_a_data_directory(name: str) -> None:
    from django.core.management import load_command_class

    parser = load_command_class("filters.site", name).create_parser("manage.py", name)
    assert "--data DIR" in parser.format_help()


@pytest.mark.parametrize("spelling", [["--data", "there"], ["--data=there"]])
def test_it_is_chosen_before_the_settings_are_read(spelling: list[str]) -> None:
    environ: dict[str, str] = {"TAPESTRY_DATA": "/elsewhere"}
    there = str(Path("there").absolute())
    kept = choose_data_directory(["manage.py", "tick", *spelling, "-v2"], environ)
    assert (kept, environ) == (
        ["manage.py", "tick", "--data", "there", "-v2"], {"TAPESTRY_DATA": there},
    )  # fmt: skip
    kept = choose_data_directory(["manage.py", "migrate", *spelling], environ)
    assert kept == ["manage.py", "migrate"], "commands of Django's work there too"
    for name in WITHOUT_DATA:
        given = ["manage.py", name, *spelling]
        assert choose_data_directory(given, {}) == given


def test_commands_work_there(taken_in: tuple[str, Path]) -> None:
    printed, data = taken_in
    assert "1 added" in printed and (data / "db.sqlite3").exists()
    assert not data.with_name("no").exists()
    forget = ("forget", "--audience", "public", f"--data={data}")
    done = manage(*forget)
    assert done.returncode == 1 and "nobody can be asked" in done.stderr
    done = manage(*forget, "--yes")
    assert done.stdout.startswith("1 messages")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tick", "--data"], "--data: it names no directory"),
        (["tick", "--data", ""], "--data: it names no directory"),
        (["bench", "append", "--data", "x"], "unrecognized arguments: --data x"),
    ],
)
def test_a_wrong_one_is_said_in_words(arguments: list[str], words: str) -> None:
    done = manage(*arguments)
    assert words in done.stderr and done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_wrong_command_line_ends_with_2() -> None:
    nosuch = (["nosuch"], ["nosuch", "--help"], ["help", "nosuch"], ["--nosuch"])
    for words in (*nosuch, ["ask", "x", "--limit", "-1"]):
        done = subprocess.run([sys.executable, "-m", "tapestry", *words], cwd=ROOT, timeout=300)
        assert done.returncode == 2


def test_an_account_is_asked_for_at_a_terminal_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tapestry", "createsuperuser", "--data", tmp_path], cwd=ROOT,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 1 and "no terminal" in done.stderr and "--noinput" in done.stderr


def test_one_that_comes_too_late_is_not_passed_over(tmp_path: Path) -> None:
    from django.core.management import call_command

    from tapestry.core.errors import TapestryError

    with pytest.raises(TapestryError, match="chosen before the settings"):
        call_command("tick", data_directory=tmp_path / "other")


class TestAsking:
    def test_the_first_words_come_before_django(self, tmp_path: Path) -> None:
        """What is imported before them is small: it takes no second."""
        program = (
            "import sys, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tapestry.settings';"
            "from filters.site.management import command_line as c;"
            "c.announce_spark(); print(*sys.modules)"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin", "TAPESTRY_DATA": str(tmp_path)}, check=True, timeout=300,
        )  # fmt: skip
        assert done.stderr == "Starting Spark…\n"
        large = {"django.contrib.auth", "pyarrow", "deltalake", "sqlglot", "pyspark", "redis"}
        assert not large.intersection(done.stdout.split())

    def test_ask_says_that_spark_starts_before_its_error(self, taken_in: tuple[str, Path]) -> None:
        done = manage("ask", "replies bye", "--data", str(taken_in[1]))
        assert done.stderr.startswith("Starting Spark…\nerror: ")
        assert manage("ask", "--help").stderr == ""

    def test_the_spark_of_an_up_that_runs_there_is_asked(
        self, taken_in: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("SPARK_REMOTE")
        data = taken_in[1]
        address = data / "run" / f"{UNPROVEN}.remote"
        address.parent.mkdir(exist_ok=True)
        address.write_text("sc://127.0.0.1:1\n")
        assert spark_remote(address.parent, UNPROVEN) is None, "it was killed"
        with file_lock(address.parent / LOCK) as held:
            assert held and spark_remote(address.parent, UNPROVEN) == "sc://127.0.0.1:1"
            done = manage("ask", "replies bye", "--data", str(data))
            assert done.stderr.startswith("Asking the Spark that runs…\n")


def test_the_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert manage("--version").stdout == f"Tapestry {project['version']}\n"


def test_the_name_for_people_hides_what_is_for_developers() -> None:
    shown = Utility(["tapestry", "help"]).main_help_text()
    assert "makemigrations" not in shown and "\n    createsuperuser " in shown
    assert "\n    ask FILTER " in shown and "\n    pause " in shown and "\n    130  interr" in shown
    assert called("Run `manage.py up`.", "tapestry") == "Run `tapestry up`."
    command = load_command_class("filters.site", "filters")
    assert "--pythonpath" not in command.create_parser("tapestry", "filters").format_help()
