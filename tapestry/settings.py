"""Settings of the site, the worker and the commands.

Everything that is stored lies in one directory, ``$TAPESTRY_DATA`` (by default ``var/``), or that
of ``manage.py COMMAND --data DIR``.
What may be set from outside:

    TAPESTRY_DATA     the data directory; without one, an installed Tapestry stores all in
                      ~/.local/share/tapestry
    TAPESTRY_MACHINE  the name of this machine, where several run the parts of one site
    TAPESTRY_HOSTS    names the site answers to beside loopback, with commas between
    TAPESTRY_PROXIES  how many proxies in front of the site say the address of a client (0)
    TAPESTRY_URL      the address of the site, for links in what it sends
    EMAIL_URL         the server that sends mail: smtp+tls://user:pass@host:587; without one,
                      mail is kept for a page
    TAPESTRY_FROM     the address that mail comes from, and that bounces are sent to
    TAPESTRY_BOUNCES  the mailbox where these are read: imaps://user:pass@host/INBOX
    TAPESTRY_RETURN_PATH  the envelope sender, with * for what is of each delivery: bounces+*@host
    TAPESTRY_PRIVATE_HOSTS   networks and names of hosts that sources, mailboxes, mail servers,
                      webhooks and push may reach although they are not public, with commas between
    TAPESTRY_AUTHSERV   hosts of mailboxes and the authserv-ids of their Authentication-Results
                      that are trusted: imap.example.org=mx.example.org, with commas between
    TAPESTRY_ALARM    seconds that something may stand still before the operator is told (900)
    TAPESTRY_ALARM_MAIL   addresses that are told, with commas between; else the superusers'
    TAPESTRY_ALARM_WEBHOOK   the address that is told by a POST of JSON
    TAPESTRY_IMAP     where mail programs connect, by IMAP over TLS: 0.0.0.0:993 (nowhere)
    TAPESTRY_IMAP_CERTIFICATE, TAPESTRY_IMAP_KEY   the files of its certificate, in PEM
    TAPESTRY_DEBUG    1 shows tracebacks in the browser: for work on Tapestry itself
    TAPESTRY_TICK     seconds between two runs of what is due (5)
    TAPESTRY_SHARED_SECONDS, TAPESTRY_OWN_SECONDS, TAPESTRY_UNPROVEN_SECONDS,
    TAPESTRY_PREVIEW_SECONDS   what a run of each lane may take (40, 20, 30, 20)
    TAPESTRY_WORKERS  which lanes share a process (filters/site/settings/workers.py)
    TAPESTRY_WINDOW_PARTS   parts of the shared window, which workers run at the same time (1)
    TAPESTRY_DISK_RESERVE   MiB of the disk that mail and runs leave free (256)
    TAPESTRY_RETENTION   for how many days mail is kept, by audience: user:terry=365 public=3650
    TAPESTRY_SIGN_UP  who may make an account: off, invitation or on (off)
    TAPESTRY_BUDGETS  what a person may use: filters=5000 seconds=600 group:parc:seconds=60
    DATABASE_URL      another database than SQLite, such as postgres://…
    SECRET_KEY        else one is made on first use and kept in the data directory
    REDIS_URL, SPARK_REMOTE   else what `manage.py up` wrote into the data directory
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.utils.functional import SimpleLazyObject

from filters.site.settings.alarm import read_addresses, read_webhook
from filters.site.settings.authserv import trusted_servers
from filters.site.settings.budgets import read_budgets
from filters.site.settings.data_directory import data_directory
from filters.site.settings.database_url import database_settings
from filters.site.settings.email_url import email_settings
from filters.site.settings.imap import read_imap
from filters.site.settings.machine import read_machine
from filters.site.settings.numbers import read_retention, seconds, whole_number
from filters.site.settings.proxies import number_of_proxies
from filters.site.settings.sign_up import read_mode
from filters.site.settings.workers import read_workers
from tapestry.core.files.disk_space import RESERVE
from tapestry.run.lane_limits import LaneLimits

BASE = Path(__file__).resolve().parent.parent
DATA = data_directory(os.environ)
MACHINE = read_machine(os.environ.get("TAPESTRY_MACHINE", ""))

SITE_URL = (os.environ.get("TAPESTRY_URL") or "http://127.0.0.1:8000").rstrip("/")
_IS_HTTPS = urlsplit(SITE_URL).scheme == "https"

DEBUG = os.environ.get("TAPESTRY_DEBUG") == "1"
_HOSTS = [name.strip() for name in os.environ.get("TAPESTRY_HOSTS", "").split(",") if name.strip()]
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *_HOSTS]
PROXIES = number_of_proxies(os.environ.get("TAPESTRY_PROXIES", ""))
CSRF_TRUSTED_ORIGINS = [
    f"https://{host}"
    for name in _HOSTS
    if name != "*"
    for host in ([f"*{name}", name[1:]] if name.startswith(".") else [name])
]


def _secret_key() -> str:
    """Return the key, from the environment or the data directory; imported only when asked for."""
    from filters.site.work.crypto.key_file import secret_key

    return secret_key(DATA)


SECRET_KEY: Any = SimpleLazyObject(_secret_key)

INSTALLED_APPS = [
    "filters.people",
    "filters.runs",
    "filters.sources",
    "filters.authoring",
    "filters.inbox",
    "filters.reading",
    "filters.compose",
    "filters.delivery",
    "filters.api",
    "filters.imap",
    "filters.jmap",
    "filters.upkeep",
    "filters.site",
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "django.forms",
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

MIDDLEWARE = [
    "filters.site.web.headers.of_every_answer",
    "filters.site.web.compression.Compression",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "filters.site.web.static_files.StaticFiles",
    "filters.site.web.middleware.sign_in_as_a_page",
    "filters.people.middleware.sign_in_limits",
    "filters.people.middleware.session_cookie",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "filters.site.web.limits.limit_forms",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "filters.people.middleware.person",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "filters.site.web.middleware.ErrorPages",
]

ROOT_URLCONF = "tapestry.urls"
WSGI_APPLICATION = "tapestry.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE / "filters" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "filters.inbox.context_processors.sidebar",
                "filters.inbox.triage.context_processors.triage",
            ],
        },
    },
]

if os.environ.get("DATABASE_URL"):
    DATABASES: dict[str, Any] = {"default": database_settings(os.environ["DATABASE_URL"])}
else:
    # IMMEDIATE: a transaction waits for the lock when it begins, where waiting works, and
    # not at its first write, where SQLite would refuse at once.  FULL: what is committed is on
    # the disk, whatever the default of this SQLite is.  MEMORY: where the pages wait that a
    # statement changes, in case it fails; in a file, updates of many rows take twice as long.
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": DATA / "db.sqlite3",
            "OPTIONS": {
                "timeout": 30,
                "transaction_mode": "IMMEDIATE",
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; "
                "PRAGMA temp_store=MEMORY",
            },
            # In a file: tests race threads against each other, which one in memory cannot.
            "TEST": {"NAME": Path(tempfile.gettempdir()) / f"tapestry-test-{os.getpid()}.sqlite3"},
        }
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "people.User"
AUTHENTICATION_BACKENDS = ["filters.people.signing_in.backend.LimitedBackend"]
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {"min_length": 10}),
        ("CommonPasswordValidator", {}),
        ("NumericPasswordValidator", {}),
    )
] + [
    {"NAME": "filters.people.password_policy.name_in_password.NameInPasswordValidator"},
    {"NAME": "filters.people.password_policy.few_characters.FewCharactersValidator"},
]
SIGN_UP = read_mode(os.environ.get("TAPESTRY_SIGN_UP", ""))
PASSWORD_RESET_TIMEOUT = 3600
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "inbox"
LOGOUT_REDIRECT_URL = "sign-in"
SESSION_ENGINE = "filters.people.sessions.store"
SESSION_COOKIE_NAME = "tapestry_session"
CSRF_COOKIE_NAME = "tapestry_csrf"
CSRF_COOKIE_HTTPONLY = True  # htmx has the token from the page
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = bool(_HOSTS) or _IS_HTTPS
SECURE_HSTS_SECONDS = 2 * 365 * 24 * 3600 if _IS_HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 10

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
WHITENOISE_USE_FINDERS = True
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "filters.site.web.static_files.HashedFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "filters.site.web.static_files.HashedStorage"},
}

locals().update(email_settings(os.environ.get("EMAIL_URL") or ""))
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = os.environ.get("TAPESTRY_FROM") or f"tapestry@{urlsplit(SITE_URL).hostname}"

BOUNCES = os.environ.get("TAPESTRY_BOUNCES", "")
# With ``*``: the envelope sender of each delivery is its own (tapestry.deliver.mail.return_path).
RETURN_PATH = os.environ.get("TAPESTRY_RETURN_PATH") or (
    DEFAULT_FROM_EMAIL.replace("@", "+*@") if BOUNCES else DEFAULT_FROM_EMAIL
)

MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

TICK_SECONDS = seconds("TAPESTRY_TICK", 5)
WORKERS = read_workers(os.environ.get("TAPESTRY_WORKERS", ""))

LANE_LIMITS = LaneLimits(
    shared=seconds("TAPESTRY_SHARED_SECONDS", 40),
    own=seconds("TAPESTRY_OWN_SECONDS", 20),
    unproven=seconds("TAPESTRY_UNPROVEN_SECONDS", 30),
)
PREVIEW_SECONDS = seconds("TAPESTRY_PREVIEW_SECONDS", 20)
PRIVATE_HOSTS = [
    entry.strip()
    for entry in os.environ.get("TAPESTRY_PRIVATE_HOSTS", "").split(",")
    if entry.strip()
]
AUTHSERV = trusted_servers(os.environ.get("TAPESTRY_AUTHSERV", ""))
WINDOW_PARTS = max(whole_number("TAPESTRY_WINDOW_PARTS", 1), 1)
BUDGETS = read_budgets(os.environ.get("TAPESTRY_BUDGETS", ""))
DISK_RESERVE = whole_number("TAPESTRY_DISK_RESERVE", RESERVE)  # read by core.files.disk_space
ALARM_SECONDS = seconds("TAPESTRY_ALARM", 900)
ALARM_MAIL = read_addresses(os.environ.get("TAPESTRY_ALARM_MAIL", ""))
ALARM_WEBHOOK = read_webhook(os.environ.get("TAPESTRY_ALARM_WEBHOOK", ""))
IMAP = read_imap(os.environ)
RETENTION = read_retention(os.environ.get("TAPESTRY_RETENTION", ""))

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "filters.site.web.log_lines.Lines",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "tapestry": {"level": "INFO"},
        "filters": {"level": "INFO"},
        # Django's own handlers are taken away: they would write what this one leaves out.
        "django": {},
        "django.server": {"propagate": True},
    },
}
