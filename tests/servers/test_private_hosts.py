"""Which addresses that people name are sent to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.errors import TapestryError
from tapestry.servers.private_hosts import (
    AddressRefusedError,
    checked_addresses,
    is_allowed,
    is_public,
    read_target,
    resolve_host,
)

PUBLIC = ["9.9.9.9", "172.15.255.255", "172.32.0.0", "100.63.255.255", "100.128.0.0", "223.1.1.1"]
PUBLIC_6 = ["2620:fe::fe", "::ffff:9.9.9.9", "2002:909:909::1", "64:ff9b::909:909"]
PRIVATE = [
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "203.0.113.9",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
]
PRIVATE_6 = [
    "::",
    "::1",
    "::7f00:1",
    "100::1",
    "2001::7f00:1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
    "64:ff9b:1::a00:1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%2",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("text", [*PUBLIC, *PUBLIC_6])
def test_a_public_address_is_public(text):
    assert is_public(ip_address(text))


@pytest.mark.parametrize("text", [*PRIVATE, *PRIVATE_6])
def test_any_other_address_is_private(text):
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PRIVATE)
def test_an_address_that_stands_for_a_private_one_is_private(text):
    number = int(IPv4Address(text))
    assert not is_public(IPv6Address(f"::ffff:{text}"))
    assert not is_public(IPv6Address(f"64:ff9b::{text}"))
    assert not is_public(IPv6Address((0x2002 << 112) | (number << 80) | 1))


@given(st.ip_addresses(v=4))
def test_what_python_knows_to_be_private_is_private(address):
    assert address.is_global or not is_public(address)
    assert not is_public(address) or not (address.is_multicast or address.is_reserved)


@given(st.ip_addresses(v=6))
def test_of_ipv6_only_global_unicast_and_what_stands_for_ipv4_is_public(address):
    stands_for = address.ipv4_mapped or address in ip_network("64:ff9b::/96")
    assert stands_for or not is_public(address) or address in ip_network("2000::/3")
    assert stands_for or not is_public(address) or address.is_global


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://0/",
        "https://localhost/",
        "https://LOCALHOST/",
        "https://[::1]/",
        "https://[::]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[::ffff:7f00:1]/",
        "https://[64:ff9b::7f00:1]/",
        "https://[2002:7f00:1::]/",
        "https://169.254.169.254/latest/meta-data/",
    ],
)
def test_every_spelling_of_a_private_address_is_refused(url):
    target = read_target(url)
    with pytest.raises(AddressRefusedError, match="is not a public host, so nothing is sent to it"):
        checked_addresses(target, resolve_host(target.host, target.port), [])


def test_one_private_address_among_public_ones_is_refused():
    target = read_target("https://hooks.test/")
    assert checked_addresses(target, ["9.9.9.9"], []) == (ip_address("9.9.9.9"),)
    with pytest.raises(AddressRefusedError):
        checked_addresses(target, ["9.9.9.9", "10.0.0.1"], [])


def test_a_host_may_have_public_addresses_and_allowed_ones():
    target = read_target("https://hooks.test/")
    assert len(checked_addresses(target, ["10.0.0.1", "9.9.9.9"], ["10.0.0.0/8"])) == 2
    with pytest.raises(AddressRefusedError):
        checked_addresses(target, ["10.0.0.1", "9.9.9.9", "192.168.1.1"], ["10.0.0.0/8"])


def test_plain_http_is_for_hosts_that_the_operator_allows():
    target = read_target("http://hooks.test/")
    with pytest.raises(AddressRefusedError, match="must begin with https://"):
        checked_addresses(target, ["9.9.9.9"], [])
    with pytest.raises(AddressRefusedError, match="must begin with https://"):
        checked_addresses(target, ["9.9.9.9", "10.0.0.1"], ["10.0.0.0/8"])
    assert checked_addresses(target, ["10.0.0.1"], ["10.0.0.0/8"])


@pytest.mark.parametrize(
    ("entry", "is_in"),
    [
        ("10.1.0.0/16", True),
        ("10.1.2.3", True),
        ("10.1.2.3/16", True),
        (" hooks.lan ", True),
        ("Hooks.LAN.", True),
        ("10.2.0.0/16", False),
        ("lan", False),
        ("other.lan", False),
        ("::/0", False),
    ],
)
def test_the_operator_allows_networks_and_names(entry, is_in):
    assert is_allowed("hooks.lan", ip_address("10.1.2.3"), [entry]) is is_in


def test_a_mapped_address_is_allowed_as_what_it_stands_for():
    target = read_target("https://[::ffff:10.1.2.3]/")
    assert checked_addresses(target, [target.host], ["10.0.0.0/8"]) == (ip_address("10.1.2.3"),)


@pytest.mark.parametrize("entry", ["10.0.0.0/33", "10.0.0", "*", "https://x.org", ""])
def test_an_entry_that_is_neither_is_an_error_of_the_operator(entry):
    with pytest.raises(TapestryError, match="is neither a network nor the name of a host"):
        is_allowed("hooks.lan", ip_address("10.1.2.3"), [entry])


@pytest.mark.parametrize(
    ("url", "origin", "path"),
    [
        ("https://x.org", "https://x.org", "/"),
        (" https://X.org/a?b=c#d ", "https://x.org", "/a?b=c"),
        ("https://x.org:443/", "https://x.org", "/"),
        ("http://x.org:80/", "http://x.org", "/"),
        ("https://x.org:8443/", "https://x.org:8443", "/"),
        ("https://[2620:fe::fe]:8443/", "https://[2620:fe::fe]:8443", "/"),
        ("https://x.org/ü b", "https://x.org", "/%C3%BC%20b"),
        ("https://müller.example/", "https://xn--mller-kva.example", "/"),
    ],
)
def test_an_address_is_read(url, origin, path):
    target = read_target(url)
    assert (target.origin, target.path) == (origin, path)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "x.org",
        "//x.org/",
        "ftp://x.org/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://",
        "https:///path",
        "https://x.org:0/",
        "https://x.org:99999/",
        "https://x.org:port/",
        "https://a b/",
        "https://x.org\r\nHost: y.org/",
        "https://exa%00mple.org/",
        "https://[fe80::1%25eth0]/",
        "https://[::1/",
        "https://x.org/" + "a" * 2000,
    ],
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(AddressRefusedError, match="not the address of a web server"):
        read_target(url)


@pytest.mark.parametrize(
    "url", ["https://ann@x.org/", "https://ann:wonder@x.org/", "https://ann:@x.org/"]
)
def test_an_address_with_a_password_is_refused(url):
    with pytest.raises(AddressRefusedError, match="user name or password") as caught:
        read_target(url)
    assert "wonder" not in caught.value.render()


@given(st.text())
def test_any_text_is_an_address_or_refused(text):
    for url in (text, f"https://{text}", f"https://x.org/{text}"):
        try:
            target = read_target(url)
        except AddressRefusedError:
            continue
        assert target.path.isascii() and target.path.isprintable() and " " not in target.path


@pytest.mark.parametrize("host", ["a..b", "a" * 64])
def test_a_host_without_an_address_is_an_error_of_the_network(host):
    with pytest.raises(OSError, match="is not a host name"):
        resolve_host(host, 443)
