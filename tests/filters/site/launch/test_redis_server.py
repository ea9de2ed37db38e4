"""Redis: the one that is named, else one of our own."""

import pytest
import redis

from filters.site.launch import redis_server
from tapestry.core.errors import TapestryError
from tapestry.core.processes.child_process import free_port, stop
from tests.support.processes.other_user import is_root, squatting


def test_our_own_wants_a_password_and_the_address_has_it(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        assert client.ping()
    where = redis_url.partition("@")[2]
    with redis.Redis.from_url(f"redis://{where}") as client, pytest.raises(redis.RedisError):
        client.ping()


def test_the_one_that_is_named_is_used(redis_url, tmp_path, monkeypatch):
    monkeypatch.setenv("REDIS_URL", redis_url)
    server = redis_server.start(tmp_path)
    assert (server.url, server.child) == (redis_url, None)
    assert not list(tmp_path.iterdir())


def test_one_that_does_not_answer_is_an_error_without_its_password(tmp_path, monkeypatch):
    port = free_port()
    monkeypatch.setenv("REDIS_URL", f"redis://joe:hush@127.0.0.1:{port}/0")
    with pytest.raises(TapestryError) as refused:
        redis_server.start(tmp_path)
    assert refused.value.message == (
        f"Redis does not answer at REDIS_URL (redis://…@127.0.0.1:{port}/0)."
    )


def test_what_is_no_address_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("REDIS_URL", "localhost")
    with pytest.raises(TapestryError, match="is not the address of a Redis: localhost"):
        redis_server.start(tmp_path)


def test_it_runs_in_a_directory_with_a_space(tmp_path, monkeypatch):
    monkeypatch.delenv("REDIS_URL", raising=False)
    run = tmp_path / 'a "quoted" place'
    run.mkdir()
    server = redis_server.start(run)
    try:
        server.wait(120)
    finally:
        stop([server.child])
    assert server.child.process.returncode is not None


def test_who_takes_the_port_before_it_does_gets_no_password(tmp_path, monkeypatch):
    monkeypatch.delenv("REDIS_URL", raising=False)
    if not is_root():  # the kernel cannot tell the stranger from us
        monkeypatch.setattr(redis_server, "is_strangers", lambda port, user: True)
    with squatting(0) as stranger:
        monkeypatch.setattr(redis_server, "free_port", lambda: stranger.port)
        server = redis_server.start(tmp_path)
        with pytest.raises(TapestryError, match="Redis ended"):
            server.wait(120)
    assert stranger.received == b""
    assert (tmp_path / "redis.conf").stat().st_mode & 0o077 == 0
