"""What systemd is told: at a path, or under an abstract name; and nothing where nobody listens."""

import socket

import pytest

from filters.site.launch.service_manager import notify


@pytest.mark.parametrize("name", ["{directory}/notify", "@{directory}/notify"])
def test_a_state_reaches_the_service_manager(name, tmp_path, monkeypatch):
    address = name.format(directory=tmp_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address.replace("@", "\0"))
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        notify("READY=1")
        manager.settimeout(10)
        assert manager.recv(100) == b"READY=1"


def test_a_state_that_nobody_waits_for_is_lost(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "gone"))
    notify("READY=1")
    monkeypatch.delenv("NOTIFY_SOCKET")
    notify("READY=1")
