"""Real mail beside the project, where it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_MAIL = Path(__file__).resolve().parents[3] / "shared" / "mail"


@pytest.fixture(scope="session")
def shared_mail() -> Path:
    if not SHARED_MAIL.is_dir():
        pytest.skip(f"no real mail at {SHARED_MAIL}")
    return SHARED_MAIL
