"""The table of providers: each domain once, TLS everywhere, and help where it is needed."""

from collections import Counter
from ipaddress import ip_address
from urllib.parse import urlsplit

import pytest

from tapestry.servers.discovery.providers import PROVIDERS, provider_by_mx, provider_of
from tapestry.servers.discovery.server_settings import host_name
from tests.support.paths import FIXTURES


def test_addresses_of_each_provider(datadriven):
    def evaluate(case):
        lines = []
        for address in case.input.split():
            provider = provider_of(address.rpartition("@")[2])
            if provider is None:
                lines.append(f"{address}: not in the table")
                continue
            for protocol in ("imap", "smtp"):
                found = provider.settings(protocol)
                where = f"{found.host}:{found.port} {found.security} {found.method}"
                lines.append(f"{protocol} {where} {found.user_of(address)}")
        return "\n".join(lines)

    datadriven(FIXTURES / "servers" / "providers.test", evaluate)


def test_each_domain_is_in_the_table_once():
    counts = Counter(domain for provider in PROVIDERS for domain in provider.domains)
    assert [domain for domain, count in counts.items() if count > 1] == []
    assert all(host_name(domain) == domain for domain in counts)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.imap.host)
def test_each_row_is_usable(provider):
    for settings in (provider.imap, provider.smtp):
        assert settings.security in ("tls", "starttls")
        assert host_name(settings.host) == settings.host or ip_address(settings.host).is_loopback
    assert provider.help.endswith(".")
    page = urlsplit(provider.page)
    assert page.scheme == "https" and page.hostname


@pytest.mark.parametrize(
    ("hosts", "name"),
    [
        (["aspmx.l.google.com.", "alt1.aspmx.l.google.com."], "Gmail"),
        (["x-org.mail.protection.outlook.com."], "Microsoft 365"),
        (["in1-smtp.messagingengine.com."], "Fastmail"),
        (["MX.Zoho.EU."], "Zoho"),
        (["mx.notgoogle.com."], None),
        (["."], None),
        ([], None),
    ],
)
def test_the_provider_behind_a_domain_of_ones_own(hosts, name):
    provider = provider_by_mx(hosts)
    assert (provider and provider.name) == name
