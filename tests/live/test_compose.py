"""The compose file: its three services, in images that are built here of Debian's packages."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.support.paths import ROOT
from tests.support.servers.compose import Composition, buildah
from tests.support.servers.network import run

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(3600)]

COMPOSE = ROOT / "filters" / "site" / "packaging" / "compose.yaml"
BASE, SITE, STORES = (f"localhost/tapestry-test-{name}" for name in ("base", "site", "stores"))

DATA = "/var/lib/tapestry"

SETTLE = """
from filters.authoring.lifecycle import install
from filters.people.models import User
install(User.objects.get(username="terry"), "m.subject HAS 'test'", name="tests")
"""

LETTER = "Message-ID: <{name}@x>\nFrom: jones@x.org\nSubject: test \ua640\n\nHello.\n"
"""One that Spark may see otherwise than SQLite does: so Java must be there."""


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Return images that stand for those that the compose file names."""
    place = tmp_path_factory.mktemp("images")
    release = run("sh", "-c", ". /etc/os-release; echo $VERSION_CODENAME")
    # Not on a file system without devices, as the memory of a machine is.
    debian = ["mmdebstrap", "--variant=minbase", "--include=ca-certificates", release]
    environment = os.environ | {"TMPDIR": "/var/tmp"}
    tar = place / "debian.tar"
    subprocess.run([*debian, tar], env=environment, check=True, capture_output=True)
    scratch = buildah("from", "scratch")
    try:
        buildah("add", "--quiet", scratch, tar, "/")
        buildah("commit", "--quiet", "--rm", scratch, BASE)
        tar.unlink()
        stores = ROOT / "tests" / "support" / "servers" / "stores"
        buildah(
            "build", "--isolation=chroot", f"--build-arg=BASE={BASE}", f"--tag={STORES}", stores
        )
        subprocess.run(
            ["make", "--old-file=.venv/.run-ready", "image", f"DIST={place}", f"BASE={BASE}",
             f"IMAGE={SITE}"],
            cwd=ROOT, env=environment | {"BUILDAH_ISOLATION": "chroot"},
            check=True, capture_output=True,
        )  # fmt: skip
        yield {
            "localhost/tapestry:latest": SITE,
            "docker.io/library/postgres:15": STORES,
            "docker.io/library/redis:7": STORES,
        }
    finally:
        buildah("rmi", "--force", SITE, STORES, BASE)


class Composed:
    """The services of the file, on volumes that stay when the containers go."""

    def __init__(self, volumes: Path, images: dict[str, str]) -> None:
        self.volumes = volumes
        self.services = Composition(COMPOSE, volumes, images, PASSWORD="a-secret")
        self.app = self.services.services["app"]

    def start(self) -> None:
        """Start all at once, the site first, and wait until its health is well."""
        self.services.up()
        until = time.monotonic() + 600
        while not self.app.is_healthy():
            assert self.app.process is not None and self.app.process.poll() is None, self.log()
            assert time.monotonic() < until, self.log()
            time.sleep(1)

    def tapestry(self, *arguments: str, **environment: str) -> str:
        """Run a command in the container of the site; return what it prints."""
        return run(*self.app.command("tapestry", *arguments, **environment))

    def takes_in(self, name: str) -> None:
        letter = self.volumes / "data" / f"{name}.eml"
        letter.write_text(LETTER.format(name=name))
        self.tapestry("ingest", f"{DATA}/{name}.eml")
        self.tapestry("wait", "--timeout=1800")

    def answer(self, host: str) -> int:
        """Return how the site answers somebody outside of its container, who calls it so."""
        try:
            with urlopen(
                Request(f"http://{self.app.host.address}:8000/", headers={"Host": host})
            ) as page:
                return page.status
        except HTTPError as error:
            return error.code

    def log(self) -> str:
        return self.services.log_of("app").read_text()


def test_three_services_start_find_mail_and_go_on_in_new_containers(
    images: dict[str, str], tmp_path: Path
) -> None:
    first = Composed(tmp_path, images)
    try:
        first.start()
        assert "Make an account with: tapestry createsuperuser" in first.log()
        options = ("--noinput", "--username=terry", "--email=terry@example.org")
        secret = {"DJANGO_SUPERUSER_PASSWORD": "seven-maids-with-mops"}
        first.tapestry("createsuperuser", *options, **secret)
        first.tapestry("shell", "-v", "0", "-c", SETTLE)
        first.takes_in("1")
        found = first.tapestry("matches", "terry.tests")
        assert "1@x" in found
        assert (first.answer("localhost"), first.answer("tapestry.example.org")) == (200, 400)
        first.tapestry("backup", "/tmp/backup")
        assert first.services.down() == {"app": 0, "database": 0, "redis": 0}
    finally:
        first.services.remove()
    again = Composed(tmp_path, images)
    try:
        again.start()
        assert again.tapestry("matches", "terry.tests") == found
        again.takes_in("2")
        assert again.tapestry("matches", "terry.tests").startswith(found)
        assert "2@x" in again.tapestry("matches", "terry.tests")
        assert "Traceback" not in again.log()
        assert again.services.down() == {"app": 0, "database": 0, "redis": 0}
    finally:
        again.services.remove()
