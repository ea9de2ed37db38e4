"""A number in the settings that is none is one sentence at the start, and nothing starts."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from filters.site.settings.numbers import read_retention, seconds, whole_number
from tapestry.core.errors import TapestryError
from tests.support.paths import ROOT


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TAPESTRY_TICK", "5s"),
        ("TAPESTRY_DISK_RESERVE", "1G"),
        ("DATABASE_URL", "postgres://h:abc/x"),
        ("TAPESTRY_RETENTION", "user:terry=soon"),
        ("TAPESTRY_BUDGETS", "user:terry:seconds=many"),
        ("TAPESTRY_SIGN_UP", "maybe"),
    ],
)
def test_no_command_begins_with_a_malformed_setting(name: str, text: str) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        cwd=ROOT,
        env={**os.environ, name: text},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {name} ")
    assert text in done.stderr or name == "DATABASE_URL"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1,5", "5s"])
def test_what_is_no_number_of_seconds_is_refused(text: str, monkeypatch) -> None:
    monkeypatch.setenv("TAPESTRY_TICK", text)
    with pytest.raises(TapestryError, match=r"TAPESTRY_TICK is .+ no number of seconds"):
        seconds("TAPESTRY_TICK", 5)


@pytest.mark.parametrize("text", ["-1", "1.5", "²", "many", "9" * 5_000])
def test_what_is_no_whole_number_is_refused(text: str, monkeypatch) -> None:
    monkeypatch.setenv("TAPESTRY_DISK_RESERVE", text)
    with pytest.raises(TapestryError, match="which is no whole number"):
        whole_number("TAPESTRY_DISK_RESERVE", 5)


@pytest.mark.parametrize(
    "text",
    [
        *("public", "public=", "public=soon", "public=²", "public=0", "public=99999", "nobody=3"),
        "public=" + "9" * 5_000,
    ],
)
def test_a_retention_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(TapestryError, match="TAPESTRY_RETENTION"):
        read_retention(text)


def test_a_group_of_any_name_may_be_kept_for_a_time() -> None:
    text = "public=30 group:Human%20Resources:%2050%25%20+%20friends=3"
    named = "group:Human Resources: 50% + friends"
    assert read_retention(text) == {"public": 30, named: 3}
