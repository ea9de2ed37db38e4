"""Which server is found for a domain: by DNS, by its autoconfig file, by its usual names."""

import socket
import ssl
from contextlib import contextmanager

import pytest
import trustme

from tapestry.servers import connection, web_request
from tapestry.servers.discovery import discover as module
from tapestry.servers.discovery.discover import Network, discover
from tapestry.servers.discovery.dns_records import Records
from tapestry.servers.discovery.server_settings import ServerSettings
from tests.support.servers.fake_servers import FakeImap
from tests.support.servers.http_recorder import Reply, recording_server
from tests.support.servers.name_server import running_name_server

AUTHORITY = trustme.CA()
LOOPBACK = ("127.0.0.0/8",)
AUTOCONFIG = b"""<clientConfig><emailProvider><domain>x.org</domain>
<incomingServer type="imap"><hostname>by-file.x.org</hostname><port>993</port>
<socketType>SSL</socketType></incomingServer></emailProvider></clientConfig>"""


class GreetingImap(FakeImap):
    """An IMAP server over TLS, with a certificate for some names."""

    def __init__(self, *names):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        AUTHORITY.issue_cert(*names).configure_cert(self.context)
        super().__init__({})

    def _talk(self, caller):
        try:
            super()._talk(self.context.wrap_socket(caller, server_side=True))
        except OSError:
            caller.close()


class Deaf(FakeImap):
    """A server without TLS, which takes the beginning of TLS for nothing that it knows."""

    def hook(self, say, command, argument, place):
        return None if command == "CAPABILITY" else False


@pytest.fixture(autouse=True)
def machine(monkeypatch, tmp_path):
    """Have all names below x.org be this machine, and failures told at once."""
    pem = tmp_path / "ca.pem"
    AUTHORITY.cert_pem.write_to_path(str(pem))
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))
    of_system = socket.getaddrinfo

    def look_up(host, port, *arguments, **options):
        if host[0].isdigit():
            return of_system(host, port, *arguments, **options)
        if not host.endswith("x.org") or host.startswith("no."):
            raise socket.gaierror(f"{host} is not known here")
        inside = "10.0.0.1" if host.startswith("inside.") else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (inside, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    for patched in (connection, module):
        monkeypatch.setattr(patched, "SECONDS", 60.0)
        monkeypatch.setattr(patched, "wait_until", lambda _deadline: None)
    monkeypatch.setattr(module, "DNS_SECONDS", 60.0)
    # The authorities of the system are read once.
    web_request._tls.cache_clear()
    yield
    web_request._tls.cache_clear()


@contextmanager
def network(records=(), places=(), names=((), 1), allowed=LOOPBACK):
    with running_name_server(dict(records)) as server, pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "USUAL_NAMES", {"imap": names, "smtp": names})
        yield Network(allowed, Records(server.resolver), places), server


@pytest.fixture
def imap():
    with GreetingImap("imap.x.org", "mail.x.org", "by-srv.x.org") as server:
        yield server


def test_srv_records_name_the_server(imap):
    records = {("_imaps._tcp.x.org", "SRV"): [f"0 1 {imap.port} by-srv.x.org."]}
    with network(records) as (reached, names):
        found = discover("x.org", "imap", reached)
    assert (found.way, found.settings) == ("srv", ServerSettings("by-srv.x.org", imap.port))
    srv = {"_imaps._tcp.x.org", "_imap._tcp.x.org"}
    assert srv <= set(names.asked) <= srv | {"x.org"}  # what else is looked for is not waited for
    assert not any("LOGIN" in line or "AUTHENTICATE" in line for line in imap.log)


def test_the_order_of_srv_records():
    records = {
        ("_imaps._tcp.x.org", "SRV"): ["10 1 993 b.x.org.", "0 1 993 c.x.org.", "0 5 993 d.x.org."],
        ("_imap._tcp.x.org", "SRV"): ["0 9 143 e.x.org.", "5 0 143 ."],
        ("_submission._tcp.x.org", "SRV"): ["0 1 587 f.x.org."],
        ("_submissions._tcp.x.org", "SRV"): ["0 0 0 ."],
    }
    with running_name_server(records) as server:
        found = Records(server.resolver).servers("x.org", "imap", 60.0)
        assert [(s.host, s.port, s.security) for s in found] == [
            ("d.x.org", 993, "tls"),
            ("c.x.org", 993, "tls"),
            ("e.x.org", 143, "starttls"),
            ("b.x.org", 993, "tls"),
        ]
        (sending,) = Records(server.resolver).servers("x.org", "smtp", 60.0)
        assert (sending.host, sending.port, sending.security) == ("f.x.org", 587, "starttls")


def test_a_name_server_that_does_not_answer_is_left():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        with running_name_server({}) as server:
            resolver = server.resolver
        resolver.port = silent.getsockname()[1]
        assert Records(resolver).servers("x.org", "imap", 0.2) == []


def test_a_server_of_srv_that_does_not_answer_over_tls_is_not_offered():
    with Deaf({}) as plain:
        records = {
            ("_imaps._tcp.x.org", "SRV"): [f"0 1 {plain.port} by-srv.x.org."],
            ("_imap._tcp.x.org", "SRV"): [f"0 1 {plain.port} by-srv.x.org."],
        }
        with network(records) as (reached, _):
            assert discover("x.org", "imap", reached) is None
    assert not any("LOGIN" in line for line in plain.log)


def test_a_server_inside_is_neither_asked_nor_named(imap):
    records = {("_imaps._tcp.x.org", "SRV"): [f"0 1 {imap.port} inside.x.org."]}
    with network(records, names=(("imap",), imap.port), allowed=()) as (reached, _):
        assert discover("x.org", "imap", reached) is None
    assert imap.log == []


def test_a_certificate_for_another_name_is_not_enough(imap):
    records = {("_imaps._tcp.x.org", "SRV"): [f"0 1 {imap.port} other.x.org."]}
    with network(records) as (reached, _):
        assert discover("x.org", "imap", reached) is None


def test_mx_records_name_a_provider_of_the_table():
    with network({("x.org", "MX"): ["5 aspmx.l.google.com."]}) as (reached, _):
        found = discover("x.org", "imap", reached)
        assert (found.way, found.provider, found.settings.host) == ("mx", "Gmail", "imap.gmail.com")
        assert discover("x.org", "smtp", reached).settings.host == "smtp.gmail.com"


def test_the_file_of_the_domain_comes_before_its_usual_names(imap):
    with recording_server(
        Reply(200, AUTOCONFIG), authority=AUTHORITY, host="autoconfig.x.org"
    ) as server:
        places = [server.url("/c.xml", host="autoconfig.{domain}")]
        with network(places=places, names=(("imap",), imap.port)) as (reached, _):
            found = discover("x.org", "imap", reached)
    assert (found.way, found.settings.host) == ("autoconfig", "by-file.x.org")


@pytest.mark.parametrize(
    ("names", "host"), [(("imap", "mail"), "imap.x.org"), (("no.imap", "mail"), "mail.x.org")]
)
def test_usual_names_that_answer_tls(imap, names, host):
    with network(names=(names, imap.port)) as (reached, _):
        found = discover("x.org", "imap", reached)
    assert (found.way, found.settings.host, found.settings.port) == ("name", host, imap.port)


@pytest.mark.parametrize("domain", ["", "localhost", "127.0.0.1", "[::1]", "a b.org", "x.org/p"])
def test_what_is_no_domain_is_not_looked_up(domain):
    with network() as (reached, names):
        assert discover(domain, "imap", reached) is None
    assert names.asked == []


def test_nothing_is_found_in_one_time_whatever_failed(monkeypatch):
    waited = []
    monkeypatch.setattr(module, "wait_until", waited.append)
    with network(places=["https://autoconfig.{domain}:1/"]) as (reached, _):
        assert discover("x.org", "imap", reached) is None
        assert discover("no.x.org", "imap", reached) is None
    assert len(waited) == 2
