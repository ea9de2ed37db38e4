"""Where the repository, the tests' fixtures and public mail lie."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
FIXTURES = TESTS / "fixtures"
SHARED_MAIL = ROOT.parent / "shared" / "mail"
