"""Requirements come with hashes, and one with a known vulnerability is named."""

import json
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.support.paths import ROOT


@pytest.fixture
def project(tmp_path):
    (tmp_path / "tests").mkdir()
    for name in ("pyproject.toml", "requirements.txt", "tests/requirements.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    return tmp_path


def run(project, script, *options):
    return subprocess.run(
        [sys.executable, ROOT / ".ci" / script, *options],
        cwd=project,
        capture_output=True,
        text=True,
    )


def test_a_pin_that_was_not_compiled_or_has_no_hash_is_named(project):
    compiled = project / "requirements.txt"
    lines = compiled.read_text().splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("waitress=="))
    lines[first : first + 3] = ["waitress==3.0.2\n"]
    compiled.write_text("".join(line.replace("lark==", "lark-parser==") for line in lines))
    printed = run(project, "tree.py").stdout
    assert "requirements.txt: “waitress==3.0.2” has no hash" in printed
    assert "requirements.txt lacks “lark==" in printed
    assert "tests/requirements.txt" not in printed


class Advisories(BaseHTTPRequestHandler):
    """Answer as OSV does, and know one vulnerability: in lark; at /broken fail."""

    def do_POST(self):
        if self.path == "/broken":
            self.send_error(500, "Cannot Tell")
            return
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["package"]["name"]
        fixed = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "9.9"}]}]
        affected = [{"package": {"name": "lark", "ecosystem": "PyPI"}, "ranges": fixed}]
        vulnerability = {"id": "PYSEC-2026-1", "summary": "A hole.", "affected": affected}
        answer = json.dumps({"vulns": [vulnerability]} if asked == "lark" else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture
def osv():
    with ThreadingHTTPServer(("127.0.0.1", 0), Advisories) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_requirement_with_a_known_vulnerability_is_named(project, osv):
    url = f"{osv}/v1/query"
    ended = run(project, "audit.py", "--vulnerability-service=osv", f"--osv-url={url}")
    assert (ended.returncode, ended.stdout) == (
        1,
        "lark 1.3.1 has a known vulnerability, PYSEC-2026-1: take 9.9.\n",
    )


def test_a_service_that_does_not_answer_is_said(project):
    url = "http://127.0.0.1:9/v1/query"
    ended = run(project, "audit.py", "--vulnerability-service=osv", f"--osv-url={url}")
    assert (ended.returncode, ended.stdout) == (
        0,
        "No advisory service answers here: the requirements were not audited.\n",
    )


def test_a_service_that_fails_is_no_audit(project, osv):
    url = f"{osv}/broken"
    ended = run(project, "audit.py", "--vulnerability-service=osv", f"--osv-url={url}")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "the requirements were not audited" in ended.stderr
    assert "500 Server Error: Cannot Tell" in ended.stderr


def test_a_crash_of_the_auditor_is_told_with_what_it_says(project):
    (project / "requirements.txt").write_text("lark\n")
    for options, words in (([], "lark does not contain a hash"), (["--nonsense"], "--nonsense")):
        ended = run(project, "audit.py", "--vulnerability-service=osv", *options)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith("pip-audit failed") and words in ended.stderr
