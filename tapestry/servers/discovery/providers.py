"""The large providers of mail: their servers, and what one must do there first.

The table spares their people the lookups, and says what no lookup tells: that a password of its
own is needed, and where it is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from tapestry.servers.discovery.server_settings import LOCAL_PART, Protocol, ServerSettings


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: the domains of its addresses, its servers, and a sentence or two of help.

    ``page`` is the provider's page for ``help``.  ``mx`` are the ends of the names of hosts that
    take in mail for customers with domains of their own.
    """

    name: str
    domains: tuple[str, ...]
    imap: ServerSettings
    smtp: ServerSettings
    help: str = ""
    page: str = ""
    mx: tuple[str, ...] = ()

    @property
    def page_host(self) -> str:
        """Return the host of ``page``, for people to see where they are led."""
        return urlsplit(self.page).hostname or ""

    def settings(self, protocol: Protocol) -> ServerSettings:
        return self.imap if protocol == "imap" else self.smtp


def _yahoo(*endings: str) -> tuple[str, ...]:
    return tuple(f"yahoo.{ending}" for ending in endings)


PROVIDERS = (
    Provider(
        "Gmail",
        ("gmail.com", "googlemail.com"),
        ServerSettings("imap.gmail.com", 993),
        ServerSettings("smtp.gmail.com", 465),
        "Google lets other programs in with an app password only, not with your usual one. Turn "
        "on 2-Step Verification, then make one on the page “App passwords” of your Google Account.",
        "https://myaccount.google.com/apppasswords",
        ("google.com", "googlemail.com"),
    ),
    Provider(
        "Outlook",
        ("outlook.com", "outlook.de", "outlook.fr", "hotmail.com", "hotmail.co.uk", "hotmail.de",
         "hotmail.fr", "hotmail.it", "hotmail.es", "live.com", "live.co.uk", "live.de", "live.fr",
         "live.nl", "msn.com", "passport.com"),
        ServerSettings("outlook.office365.com", 993, method="xoauth2"),
        ServerSettings("smtp-mail.outlook.com", 587, "starttls", method="xoauth2"),
        "Microsoft no longer lets programs in with a password: a token (OAuth 2.0) is needed, for "
        "a client that is registered with Microsoft. In Outlook’s settings, “Forwarding and IMAP” "
        "must let devices and apps use IMAP. It may be easier to forward this mail.",
        "https://support.microsoft.com/office/pop-imap-and-smtp-settings-for-outlook-com-"
        "d088b986-291d-42b8-9564-9c414e2aa040",
    ),
    Provider(
        "Microsoft 365",
        (),
        ServerSettings("outlook.office365.com", 993, method="xoauth2"),
        ServerSettings("smtp.office365.com", 587, "starttls", method="xoauth2"),
        "The mail of this domain is with Microsoft 365, which lets programs in with a token (OAuth "
        "2.0), not with a password. Ask who administers it for one.",
        "https://learn.microsoft.com/exchange/client-developer/legacy-protocols/"
        "how-to-authenticate-an-imap-pop-smtp-application-by-using-oauth",
        ("mail.protection.outlook.com", "mx.microsoft"),
    ),
    Provider(
        "iCloud",
        ("icloud.com", "me.com", "mac.com"),
        ServerSettings("imap.mail.me.com", 993, user=LOCAL_PART),
        ServerSettings("smtp.mail.me.com", 587, "starttls"),
        "Apple requires an app-specific password: make one under “Sign-In and Security” of your "
        "Apple Account. The user name is what stands before the @; if it is refused, try your "
        "whole address.",
        "https://account.apple.com/account/manage",
        ("mail.icloud.com",),
    ),
    Provider(
        "Yahoo",
        (*_yahoo("com", "co.uk", "co.in", "de", "fr", "it", "es", "ca", "com.br", "com.au", "ie"),
         "ymail.com", "rocketmail.com"),
        ServerSettings("imap.mail.yahoo.com", 993),
        ServerSettings("smtp.mail.yahoo.com", 465),
        "Yahoo requires an app password: make one under “Account security” of your Yahoo account.",
        "https://login.yahoo.com/account/security",
        ("yahoodns.net",),
    ),
    Provider(
        "AOL",
        ("aol.com", "aim.com", "aol.de", "aol.fr", "aol.co.uk"),
        ServerSettings("imap.aol.com", 993),
        ServerSettings("smtp.aol.com", 465),
        "AOL requires an app password: make one under “Account security” of your AOL account.",
        "https://login.aol.com/account/security",
    ),
    Provider(
        "Fastmail",
        ("fastmail.com", "fastmail.fm", "fastmail.de", "fastmail.net", "fastmail.org",
         "messagingengine.com", "sent.com"),
        ServerSettings("imap.fastmail.com", 993),
        ServerSettings("smtp.fastmail.com", 465),
        "Fastmail requires an app password: make one in its settings, under “Privacy & Security”.",
        "https://app.fastmail.com/settings/security",
        ("messagingengine.com",),
    ),
    Provider(
        "GMX",
        ("gmx.de", "gmx.net", "gmx.at", "gmx.ch", "gmx.eu"),
        ServerSettings("imap.gmx.net", 993),
        ServerSettings("mail.gmx.net", 465),
        "First allow IMAP in the settings of GMX, under “POP3/IMAP”. With two-factor "
        "authentication you also need an application-specific password.",
        "https://hilfe.gmx.net/pop-imap/einschalten.html",
    ),
    Provider(
        "GMX",
        ("gmx.com", "gmx.us", "gmx.co.uk", "gmx.fr", "gmx.es"),
        ServerSettings("imap.gmx.com", 993),
        ServerSettings("mail.gmx.com", 465),
        "First allow IMAP in the settings of GMX, under “POP3 & IMAP”. With two-factor "
        "authentication you also need an application-specific password.",
        "https://support.gmx.com/pop-imap/toggle.html",
    ),
    Provider(
        "WEB.DE",
        ("web.de", "email.de"),
        ServerSettings("imap.web.de", 993),
        ServerSettings("smtp.web.de", 587, "starttls"),
        "First allow IMAP in the settings of WEB.DE, under “POP3/IMAP”. With two-factor "
        "authentication you also need an application-specific password.",
        "https://hilfe.web.de/pop-imap/einschalten.html",
    ),
    Provider(
        "T-Online",
        ("t-online.de", "magenta.de"),
        ServerSettings("secureimap.t-online.de", 993),
        ServerSettings("securesmtp.t-online.de", 465),
        "Telekom requires a password of its own: make a “Passwort für E-Mail-Programme” in the "
        "settings of your e-mail account.",
        "https://account.idm.telekom.com/",
    ),
    Provider(
        "mailbox.org",
        ("mailbox.org",),
        ServerSettings("imap.mailbox.org", 993),
        ServerSettings("smtp.mailbox.org", 465),
        "With two-factor authentication, mailbox.org requires an app password: make one in its "
        "settings, under “Security”.",
        "https://login.mailbox.org/",
        ("mailbox.org",),
    ),
    Provider(
        "Posteo",
        ("posteo.de", "posteo.net", "posteo.org", "posteo.eu", "posteo.at", "posteo.ch",
         "posteo.com"),
        ServerSettings("posteo.de", 993),
        ServerSettings("posteo.de", 465),
        "Posteo takes your usual password, unless you have turned on its additional mailbox "
        "protection.",
        "https://posteo.de/en/help",
    ),
    Provider(
        "Zoho",
        ("zoho.com", "zohomail.com"),
        ServerSettings("imap.zoho.com", 993),
        ServerSettings("smtp.zoho.com", 465),
        "First allow IMAP in the settings of Zoho Mail. With two-factor authentication you also "
        "need an app password, from “Security” of your Zoho account.",
        "https://accounts.zoho.com/home#security/app_password",
        ("zoho.com",),
    ),
    Provider(
        "Zoho",
        ("zoho.eu", "zohomail.eu"),
        ServerSettings("imap.zoho.eu", 993),
        ServerSettings("smtp.zoho.eu", 465),
        "First allow IMAP in the settings of Zoho Mail. With two-factor authentication you also "
        "need an app password, from “Security” of your Zoho account.",
        "https://accounts.zoho.eu/home#security/app_password",
        ("zoho.eu",),
    ),
    Provider(
        "Yandex",
        ("yandex.com", "yandex.ru", "yandex.by", "yandex.kz", "yandex.com.tr", "ya.ru"),
        ServerSettings("imap.yandex.com", 993),
        ServerSettings("smtp.yandex.com", 465),
        "Yandex requires an app password: allow IMAP in the settings of Yandex Mail, under “Email "
        "clients”, then make a password for mail in your Yandex ID.",
        "https://id.yandex.com/security/app-passwords",
        ("yandex.net", "yandex.ru"),
    ),
    Provider(
        "Proton",
        ("proton.me", "protonmail.com", "protonmail.ch", "pm.me"),
        ServerSettings("127.0.0.1", 1143, "starttls"),
        ServerSettings("127.0.0.1", 1025, "starttls"),
        "Proton encrypts its mail, so it can only be read through Proton Mail Bridge: a program of "
        "Proton’s that must run on the machine of this site. Whoever runs the site must allow it "
        "(TAPESTRY_PRIVATE_HOSTS) and trust its certificate (SSL_CERT_FILE). Bridge shows you the "
        "port and a password of its own: write them here.",
        "https://proton.me/mail/bridge",
        ("protonmail.ch",),
    ),
)  # fmt: skip

_BY_DOMAIN = {domain: provider for provider in PROVIDERS for domain in provider.domains}


def provider_of(domain: str) -> Provider | None:
    """Return the provider whose addresses have a domain, None if it is not in the table.

    >>> provider_of("googlemail.com").name
    'Gmail'
    """
    return _BY_DOMAIN.get(domain.lower())


def provider_by_mx(hosts: Iterable[str]) -> Provider | None:
    """Return the provider that takes in the mail of a domain, by the hosts of its MX records.

    >>> provider_by_mx(["aspmx.l.google.com"]).name
    'Gmail'
    """
    names = [f".{host.lower().removesuffix('.')}" for host in hosts]
    for provider in PROVIDERS:
        if any(name.endswith(f".{end}") for end in provider.mx for name in names):
            return provider
    return None


def imap_hosts_of(smtp_host: str) -> set[str]:
    """Return the IMAP hosts of the providers that send by a host: it may have their tokens.

    >>> imap_hosts_of("smtp.gmail.com"), imap_hosts_of("smtp.gmail.com.x.org")
    ({'imap.gmail.com'}, set())
    """
    return {provider.imap.host for provider in PROVIDERS if provider.smtp.host == smtp_host}


def provider_named(name: str, host: str) -> Provider | None:
    """Return the provider of a name that has a server of that host, for either protocol."""
    for provider in PROVIDERS:
        if provider.name == name and host in (provider.imap.host, provider.smtp.host):
            return provider
    return None
