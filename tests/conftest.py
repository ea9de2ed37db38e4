"""What every test shares: the start of each server, a data directory; no silent skip under CI."""

import gc
import os

import hypothesis
import pytest
import redis
from xdist.scheduler import LoadFileScheduling

from tests.support.processes import forked

pytest_plugins = ["tests.support.formats.datadriven", "tests.support.faults.set_asides"]

NO_REDIS = "redis://127.0.0.1:1/0"
"""Where nothing answers."""

LOOPBACK = ["127.0.0.0/8", "::1/128"]
"""What the operator of the tests allows: the servers of sources and webhooks are here."""


def pytest_configure():
    """Allow loopback, in this process and in those that it starts; time no example.

    Passwords are hashed in no time in this process, SQLite waits for no disk, and static files are
    looked for as they are asked for: not all of them with each client.

    Celery reads its settings once: here, where there is no Redis.  No Spark runs for long enough
    to gain by the slow compiler of the JVM; on a busy machine it opens its first session late.
    """
    from django.conf import settings

    from tapestry.celery import app
    from tapestry.spark import session
    from tapestry.spark.server import SHORT_LIVED

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("REDIS_URL", NO_REDIS)
        assert app.conf.broker_url == NO_REDIS

    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True
    if "init_command" in (options := settings.DATABASES["default"].get("OPTIONS", {})):
        options["init_command"] = options["init_command"].replace("FULL", "OFF")
    settings.PRIVATE_HOSTS = LOOPBACK
    os.environ["TAPESTRY_PRIVATE_HOSTS"] = ",".join(LOOPBACK)
    os.environ.setdefault("TAPESTRY_SPARK_JVM", SHORT_LIVED)
    session.OPENING = 300.0


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Begin with what takes the longest in one process; spread the live files.

    A live test waits for much of its time: beside tests that do not, it leaves no core idle.  The
    last tenth has none, for one file of them may take minutes.
    """
    files = {}
    for item in items:
        place = files.setdefault("live" in item.keywords, {})
        place.setdefault(item.path, len(place))

    def place(item):
        is_long = item.nodeid.startswith((*ON_SPARK, *CRAWLED, *WORLDS))
        is_live = "live" in item.keywords
        among = files[is_live]
        return not is_long, among[item.path] / len(among) * (0.9 if is_live else 1)

    items.sort(key=place)


def pytest_collection_finish():
    """Have the garbage collector look no more at what is there for all tests."""
    gc.freeze()


def pytest_unconfigure():
    """End the process that forks, so that what its children took is known here."""
    forked.end()


ON_SPARK = (
    "tests/laws/test_text_predicates.py",
    "tests/run/limits/test_isolation.py",
    "tests/spark/",
    "tests/suites/",
)
"""Where the files are that ask the Spark of all tests."""


CRAWLED = tuple(
    f"tests/filters/site/web/test_{name}.py"
    for name in ("cast", "head", "headers", "markup", "references")
)
"""Files that look at what every address of the site answers (tests.support.answers.crawled)."""


WORLDS = ("tests/simulation/", "tests/filters/site/web/test_two_worlds.py")
"""Files with tests that play for minutes: one that begins last is waited for by itself."""


class OneSpark(LoadFileScheduling):
    """A file of tests at a time for each process, but all that ask Spark for one of them.

    A second Spark would start, and run the same Java code cold.  So would every address of the
    site be asked again, were the files that look at the answers divided.
    """

    def _split_scope(self, nodeid):
        if nodeid.startswith(CRAWLED):
            return "every address"
        return "on Spark" if nodeid.startswith(ON_SPARK) else super()._split_scope(nodeid)


def pytest_xdist_make_scheduler(config, log):
    """Divide the tests among the processes."""
    return OneSpark(config, log)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Under CI=true, have a test that could not run count as one that failed."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} may not be skipped under CI: {reason}"


@pytest.fixture(scope="session")
def django_db_setup(request):
    """Make the tables of the database of tests as those of a new site: no migration is run."""
    from django.core import management

    from filters.site.work.db.database import make_tables

    def call_command(name, *arguments, **options):
        if name == "migrate":
            make_tables()
        else:
            django_call(name, *arguments, **options)

    django_call = management.call_command
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(management, "call_command", call_command)
        request.getfixturevalue("django_db_setup")


@pytest.fixture(scope="session", autouse=True)
def quick_flush():
    """Have what a test committed deleted as ``flush`` does, but in a tenth of the time.

    Content types and permissions stay: they are those of the models, which ``flush`` makes again.
    """
    from django.contrib.auth.models import Permission
    from django.contrib.contenttypes.models import ContentType
    from django.core.management.color import no_style
    from django.db import connections
    from django.test import testcases

    def flush(name, *, database, **_):
        assert name == "flush"
        connection = connections[database]
        tables = connection.introspection.django_table_names(True, include_views=False)
        kept = {Permission._meta.db_table, ContentType._meta.db_table}
        emptied = [table for table in tables if table not in kept]
        connection.ops.execute_sql_flush(connection.ops.sql_flush(no_style(), emptied))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(testcases, "call_command", flush)
        yield


@pytest.fixture(scope="session")
def run_directory(tmp_path_factory):
    """Where the parts that tests share keep their logs."""
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="session")
def spark_server(run_directory):
    """The address of a Spark Connect server that runs as long as the tests do."""
    from tapestry.spark import server

    started = server.start(run_directory, jvm_options=server.SHORT_LIVED)
    try:
        started.wait(300)
        yield started.remote
    finally:
        started.stop()


@pytest.fixture(scope="session")
def redis_of_tests(run_directory):
    """The address of a Redis that runs as long as the tests do."""
    from filters.site.launch import redis_server
    from tapestry.core.processes.child_process import stop

    server = redis_server.start(run_directory)
    try:
        server.wait(120)
        yield server.url
    finally:
        if server.child is not None:
            stop([server.child])


@pytest.fixture
def redis_url(redis_of_tests):
    """The address of a Redis that holds nothing yet."""
    with redis.Redis.from_url(redis_of_tests) as server:
        server.flushall()
    return redis_of_tests


@pytest.fixture(scope="module")
def dovecot():
    """A mail server that runs as long as the tests of one file do."""
    from tests.support.servers.dovecot import running_dovecot

    with running_dovecot() as server:
        yield server


@pytest.fixture
def smtp(settings):
    """An SMTP server to which this site sends its mail."""
    from tests.support.servers.smtp import running_smtp

    with running_smtp() as server:
        settings.EMAIL_BACKEND = "filters.delivery.mail.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", server.port
        settings.EMAIL_TIMEOUT = 60
        yield server


@pytest.fixture(scope="module")
def radicale():
    """A server of address books and calendars that runs as long as the tests of one file do."""
    from tests.support.servers.dav import running_radicale

    with running_radicale() as server:
        yield server


@pytest.fixture(scope="module")
def inn():
    """A news server that runs as long as the tests of one file do."""
    from tests.support.servers.inn import running_inn

    with running_inn() as server:
        yield server


@pytest.fixture
def data_dir(tmp_path):
    """A fresh data directory."""
    data = tmp_path / "data"
    data.mkdir(0o700)
    return data
