"""Redis is killed and started anew, empty, while matches are delivered: none is lost."""

from __future__ import annotations

import time
from collections import Counter
from email import message_from_bytes

import pytest

from tests.support.servers.redis_process import Redis
from tests.support.servers.site import end, start, wait_ready
from tests.support.servers.smtp import running_smtp

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(3600)]

SOON = 240.0
"""Seconds in which a message must be sent, while all parts start on a busy machine."""

INSTALL = """
from filters.people.models import User
from filters.authoring.lifecycle import install
from filters.delivery.models import Address, Destination
joe = User.objects.create_user("joe")
address = Address.objects.create(owner=joe, email="joe@x.org", confirmed_at=1)
for kind in ("forward", "digest"):
    Destination.objects.create(owner=joe, kind=kind, name=kind, address=address)
install(joe, "from ann@x.org", existing=False)
"""


@pytest.fixture
def redis(tmp_path):
    server = Redis(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def smtp():
    with running_smtp() as server:
        yield server


@pytest.fixture
def site(data_dir, redis, smtp):
    running = start(data_dir, REDIS_URL=redis.url, EMAIL_URL=smtp.url)
    try:
        wait_ready(running)
        yield running
    finally:
        code = end(running)
    assert code == 0


def letter(site, redis, number):
    path = site.data / f"{number}.eml"
    path.write_text(f"Message-ID: <{number}@x>\nFrom: ann@x.org\nSubject: s{number}\n\nHello.\n")
    site.manage("ingest", str(path), REDIS_URL=redis.url)


def forwarded(smtp):
    """Count the messages that were forwarded, by their Message-IDs and those of the forwards."""
    messages = [message_from_bytes(raw) for raw in list(smtp.taken)]
    return Counter(
        (message["Message-ID"], message["Resent-Message-ID"])
        for message in messages
        if message["Resent-Message-ID"]
    )


def wait_for(site, done):
    deadline = time.monotonic() + SOON
    while not done():
        assert site.process.poll() is None, (site.data / "up.log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_what_is_found_while_redis_is_away_is_sent_when_it_is_back(site, redis, smtp):
    site.manage("shell", "-v", "0", "-c", INSTALL, REDIS_URL=redis.url)
    letter(site, redis, 1)
    wait_for(site, lambda: len(forwarded(smtp)) == 1)
    for number in (2, 4):
        letter(site, redis, number)
        redis.kill()
        letter(site, redis, number + 1)
        redis.start()
        wait_for(site, lambda number=number: len(forwarded(smtp)) == number + 1)
    assert {name for name, _ in forwarded(smtp)} == {f"<{number}@x>" for number in range(1, 6)}
    assert set(forwarded(smtp).values()) == {1}
