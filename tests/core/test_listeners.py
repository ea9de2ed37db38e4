"""Who listens at a port: the user, by the kernel's tables."""

from __future__ import annotations

import os
import socket

import pytest

from tapestry.core.processes.child_process import free_port
from tapestry.core.processes.listeners import is_strangers, listening_users
from tests.support.processes.other_user import as_other_user


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_who_listens_is_known_by_number(host):
    with socket.create_server((host, 0)) as listener:
        assert listening_users(listener.getsockname()[1]) == {os.geteuid()}


@pytest.mark.parametrize("host", ["::", "::ffff:127.0.0.1"])
def test_a_socket_of_both_kinds_is_seen(host):
    with socket.socket(socket.AF_INET6) as listener:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listener.bind((host, 0))
        listener.listen()
        assert listening_users(listener.getsockname()[1]) == {os.geteuid()}


def test_where_nobody_listens_there_is_no_stranger():
    port = free_port()
    assert listening_users(port) == set()
    assert not is_strangers(port, os.geteuid())


def test_another_address_of_this_machine_is_another_port():
    with socket.socket(socket.AF_INET6) as listener:
        listener.bind(("::1", 0))
        listener.listen()
        assert listening_users(listener.getsockname()[1]) == set()


LISTEN = """
import socket, sys
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
sys.stdin.read()
"""


def test_another_user_is_a_stranger():
    with as_other_user(LISTEN) as (process, user):
        port = int(process.stdout.readline())
        assert listening_users(port) == {user}
        assert is_strangers(port, user + 1)
        assert is_strangers(port, os.geteuid()) == (user != os.geteuid())
