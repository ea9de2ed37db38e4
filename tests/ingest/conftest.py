"""Real mail beside the project, where it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.paths import SHARED_MAIL


@pytest.fixture(scope="session")
def shared_mail() -> Path:
    if not SHARED_MAIL.is_dir():
        pytest.skip(f"no real mail at {SHARED_MAIL}")
    return SHARED_MAIL
