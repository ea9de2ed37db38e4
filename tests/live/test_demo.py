"""The demo, as a stranger meets it: in a browser, and at every port and file of this machine.

The README's pictures are made here: ``pytest --rewrite`` stores them anew.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pytest
from celery import Celery
from playwright.sync_api import Browser, Page, expect
from pyspark.errors import PySparkException

from filters.site.work.parts import addresses
from filters.site.work.parts.addresses import REMOTES
from tapestry.spark.session import connect, reconnect
from tests.support.browser.every_page import DESK, Watch
from tests.support.paths import ROOT
from tests.support.processes.listening_ports import LOOPBACK, arguments_of, listening_of_family
from tests.support.processes.other_user import is_root, run_as_other_user
from tests.support.processes.site_parts import start_sparks, wait_for_nobody
from tests.support.servers.site import Site, end, start, wait_ready

pytestmark = [pytest.mark.live, pytest.mark.timeout(1800)]

SPARK_PORTS, OTHERS = 6, {"web", "Redis", "mail"}
"""Three ports of each of two Sparks, and one of each of the others."""

MOST_GB = 1.5
"""Memory of all parts while no Spark is needed."""

STATIC = ROOT / "filters" / "site" / "static" / "site"
PATIENCE = 240_000
"""Milliseconds for which what a page shows is waited for: Spark has just started."""

STOPPING = 300.0
"""Seconds within which a Spark that is stopped is another, on a machine that is busy."""

KNOCK = (ROOT / "tests/support/processes/spark_stranger.py").read_text() + (
    """
import json, sys
from concurrent.futures import ThreadPoolExecutor
GREETINGS = (
    b"PING\\r\\n",
    b"EHLO stranger\\r\\nMAIL FROM:<s@x.org>\\r\\n",
    b"GET / HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n",
    b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n\\x00\\x00\\x00\\x04\\x00\\x00\\x00\\x00\\x00",
    rpc_request(STOP_EXECUTOR),
)

def answer(port, greeting):
    try:
        if greeting is None:
            return stop_executor(port, 20.0).hex()
        return exchange(port, greeting, 20.0).hex()
    except ConnectionRefusedError:  # closed since it was listed
        return ""

# All at once: that many are asked who say nothing.
with ThreadPoolExecutor(200) as pool:
    asked = {
        port: [pool.submit(answer, int(port), greeting) for greeting in (*GREETINGS, None)]
        for port in sys.argv[1:]
    }
    print(json.dumps({port: [each.result() for each in said] for port, said in asked.items()}))
"""
)

READ = """
import json, os, sys
opened = []
for path in json.load(sys.stdin):
    try:
        os.close(os.open(path, os.O_RDONLY))
        opened.append(path)
    except OSError:
        pass
print(json.dumps(opened))
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """A demo in a directory that everybody may go through: only its own rights protect it."""
    with TemporaryDirectory(prefix="tapestry-everybody-") as place:
        Path(place).chmod(0o755)
        data = Path(place) / "data"
        data.mkdir(0o700)
        running = start(data, "--still", command="demo")
        try:
            wait_ready(running, 600)
            yield running
        finally:
            code = end(running, signal.SIGTERM)
        wait_for_nobody(data)
        assert not (data / "run" / "redis.url").exists()
    assert code == 0


@pytest.fixture(scope="module", autouse=True)
def at_first(site: Site) -> dict[str, Any]:
    """What the site says of its health, and which Sparks it has started, as it is ready."""
    with urllib.request.urlopen(f"{site.url}healthz", timeout=120) as answer:
        parts = json.load(answer)["parts"]
    return {"spark": parts["spark"], "started": [published(site, name) for name in REMOTES]}


def test_no_spark_runs_before_a_statement_needs_it(site: Site, at_first: dict[str, Any]) -> None:
    assert at_first["spark"] == {"ok": True, "says": "is not needed yet"}
    assert at_first["started"] == [None, None]
    said = re.search(
        r": \d+ processes, (\d\.\d) GB of memory\.", (site.data / "up.log").read_text()
    )
    assert said is not None and float(said[1]) <= MOST_GB


def published(site: Site, name: str) -> str | None:
    return addresses.published(site.data / "run", name)


def remote(site: Site, name: str) -> str:
    return (site.data / "run" / f"{name}.remote").read_text().strip()


def counted(site: Site, name: str) -> int:
    """Run tasks on a Spark, and return what they find: again if it was restarted meanwhile."""

    def count() -> int:
        session = reconnect(lambda: connect(remote(site, name), os.geteuid()))
        return int(session.range(1000).groupBy().count().collect()[0][0])

    end = time.monotonic() + STOPPING
    while True:  # as the engine does: a statement only reads
        try:
            return count()
        except PySparkException:
            if time.monotonic() > end:
                raise
            time.sleep(1)


@pytest.fixture(scope="module")
def ports(site: Site) -> dict[int, str]:
    """The ports of all parts, and whose each is; the Sparks have opened all of theirs."""
    names = {}
    start_sparks(site.data)
    assert [counted(site, name) for name in ("spark", "spark-unproven")] == [1000, 1000]
    for pid, sockets in listening_of_family(site.process.pid).items():
        program = arguments_of(pid)
        for address, port in sockets:
            assert address in LOOPBACK, (program, address, port)
            names[port] = _part(program)
    return names


def _part(program: str) -> str:
    parts = {"web_server": "web", "redis-server": "Redis", "spark": "Spark", "demo": "mail"}
    return next(part for word, part in parts.items() if word in program)


def test_nothing_listens_but_what_is_known(ports: dict[int, str]) -> None:
    found = sorted(ports.values())
    assert found == sorted([*OTHERS, *["Spark"] * SPARK_PORTS])


def test_no_port_but_the_webs_answers_without_a_secret(site: Site, ports: dict[int, str]) -> None:
    said = json.loads(run_as_other_user(KNOCK, *map(str, ports)))
    for port, part in ports.items():
        ping, mail, page, _, java, stop = map(bytes.fromhex, said[str(port)])
        assert b"PONG" not in ping and b"250 2.1.0" not in mail, part
        assert java[8:9] != b"\x04" and stop[8:9] != b"\x04", part
        if part == "web":
            assert page.startswith(b"HTTP/1.0 302") and b"sign-in" in page
        else:
            assert not page.startswith(b"HTTP/"), (part, page)
        if part == "Redis":
            assert ping.startswith(b"-NOAUTH")
    assert [counted(site, name) for name in ("spark", "spark-unproven")] == [1000, 1000]


def test_workers_take_no_orders(site: Site) -> None:
    """Not even of somebody with the password of Redis."""
    url = (site.data / "run" / "redis.url").read_text().strip()
    assert Celery("stranger", broker=url).control.ping(timeout=3) == []


def test_no_file_is_open_to_others(site: Site) -> None:
    paths = [str(site.data), *map(str, below(site.data))]
    assert len(paths) > 100
    if is_root():
        assert json.loads(run_as_other_user(READ, given=json.dumps(paths))) == []
    ours = [path for path in map(Path, paths) if path.name != "up.log"]
    assert not [path for path in ours if mode_of(path) & 0o077]


def below(directory: Path) -> Iterator[Path]:
    """Yield all that is in a directory, though something is deleted meanwhile, as Spark does."""
    for place, directories, files in os.walk(directory):
        yield from (Path(place) / name for name in (*directories, *files))


def mode_of(path: Path) -> int:
    """Return who may do what with a path; nobody if it is deleted, or a link."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return 0
    return 0 if stat.S_ISLNK(mode) else stat.S_IMODE(mode)


@pytest.mark.usefixtures("ports")  # the secrets of both Sparks are there once they run
def test_no_secret_is_on_a_command_line_or_in_a_log(site: Site) -> None:
    secrets = {
        str(urlsplit((site.data / "run" / "redis.url").read_text().strip()).password),
        *(remote(site, name).partition("token=")[2] for name in ("spark", "spark-unproven")),
    }
    family = listening_of_family(site.process.pid)
    shown = [arguments_of(pid) for pid in family]
    logs = [path for path in below(site.data) if path.name.endswith(".log")]
    assert logs
    shown += [path.read_text(errors="replace") for path in logs]
    assert len(secrets) == 3
    assert not [secret for secret in secrets for text in shown if secret in text]


@pytest.fixture
def page(browser: Browser, site: Site) -> Page:
    expect.set_options(timeout=PATIENCE)
    opened = browser.new_context(viewport=DESK).new_page()
    opened.set_default_timeout(PATIENCE)
    opened.goto(site.url)
    passwords = json.loads((site.data / "sample" / "people.json").read_text())
    opened.get_by_label("Name", exact=True).fill("terry")
    opened.get_by_label("Password").fill(passwords["terry"])
    opened.get_by_role("button", name="Sign in").click()
    return opened


def test_what_a_stranger_sees_of_the_demo(
    page: Page, site: Site, request: pytest.FixtureRequest
) -> None:
    watch = Watch(page, site.url)
    # The inbox and every filter have found something; what came of late is unread.
    numbers = page.locator("#sidebar :is(.count, .total)", has_text=re.compile("[1-9]"))
    expect(numbers).to_have_count(1 + 6)
    page.wait_for_load_state()  # before its scripts run, a press there leads elsewhere

    unread = page.locator("#list-inbox .count")
    before = unread.inner_text().split()[0]
    page.locator("#list a.row", has_text="Re:", has_not_text="messages").first.click()
    expect(page.locator("#reading .letter-text").first).to_be_visible()
    assert page.locator("#reading .conversation").count() > 0
    expect(unread).not_to_contain_text(before)
    expect(page.locator("#list a.row[aria-current]")).not_to_have_class(re.compile("unread"))
    for letter in page.locator("#before details[open]").all():
        expect(letter.locator(".letter-text")).to_be_attached()
    fits = page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    assert fits, "the panes scroll, and not the page"
    is_drawn = request.config.getoption("--rewrite")
    if is_drawn:
        page.screenshot(path=STATIC / "screenshot.png")

    preview = page.locator("#preview")
    heading = preview.get_by_role("heading")
    while not heading.is_visible():
        page.get_by_role("link", name="New filter").click()
        field = page.get_by_label("Filter", exact=True)
        expect(field).to_be_empty()
        page.wait_for_load_state()
        field.fill("replies by Jones or voted for by more than 3 people")
        # On a machine that is busy it may say so, and to try again.
        expect(heading.or_(page.get_by_text("This is taking too long"))).to_be_visible()
    expect(heading).to_contain_text("So far it would have matched")
    assert int(preview.locator("h2 strong").inner_text()) > 10
    expect(preview.locator("svg")).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    if is_drawn:
        page.screenshot(path=STATIC / "writing.png")

    page.get_by_label("Search all mail").fill("about index")
    page.keyboard.press("Enter")
    expect(page.locator("#list .found strong")).to_be_visible()
    assert page.locator("#list a.row").count() > 0

    page.get_by_role("link", name="Delivery", exact=True).click()
    page.get_by_role("link", name="Digest", exact=True).first.click()
    page.get_by_role("link", name="See what it would send").click()
    mail = page.frame_locator("iframe.written")
    expect(mail.get_by_role("link", name="Vote for").first).to_be_visible()
    if is_drawn:
        page.locator("iframe.written").screenshot(path=STATIC / "digest.png")
    assert watch.wrong == []
