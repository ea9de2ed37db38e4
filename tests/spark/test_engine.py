"""The same statements on Spark as on sqlite: fixed filters and random ones, grouped."""

import re
from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tapestry.core.clock import BEGINNING, DAY, WEEK
from tapestry.core.errors import TapestryError
from tapestry.core.schema import ANNOTATIONS, COLUMNS, MESSAGES, Type
from tapestry.embedded.local_rows import Limits
from tapestry.plan.compile import compile_filter, compile_query
from tapestry.plan.lowering.lower import lower
from tapestry.query.context import Context
from tapestry.run.changes import change_windows
from tapestry.run.execute import Subscription, execute, execute_windows, signature_groups
from tapestry.spark import engine as spark
from tapestry.spark.session import connect
from tapestry.tables.delta.data_files import bounded_file, bounds_of
from tapestry.tables.delta.log import Snapshot
from tapestry.tables.delta.parquet_file import write_parquet
from tapestry.tables.rows import REPEATING, ROW_GROUP, arrow_schema
from tests.support.engines.sqlite_engine import SqliteEngine
from tests.support.formats.datadriven import parse
from tests.support.generators import random_filters, random_worlds, thread_filters
from tests.support.generators import rows as generated_rows
from tests.support.oracle.covered import decided_and_evaluated
from tests.support.oracle.threads import rows_of
from tests.support.oracle.values import received
from tests.support.paths import FIXTURES

pytestmark = pytest.mark.spark

AUDIENCES = ("public", "user:alice")

RULES = FIXTURES / "rewrite"

EVERY = list(range(10))

FILTERS = [
    "m.subject HAS 'naïve über'",
    "m.subject LIKE '%ÜBER\\_%'",
    "m.to = {'joe@x.org', LIKE '%BILL%'}",
    "NOT (m.to = 'joe@x.org')",
    "m.newsgroups IN ('comp.sys.mac', 'rec.x') OR m.newsgroups > 'y'",
    "m.cc HAS 'x org'",
    "m.sender IN ('joe@x.org', 'o''hara@x.org') AND m.subject IS NOT NULL",
    "lower(m.subject) = 'naïve—über_ test' AND length(m.subject) = 16",
    "substr(m.sender, 1, 3) = 'joe' AND trim(upper(m.sender_name)) = 'JOE'",
    "coalesce(m.date, m.ts) < now() - 3 seconds",
    "m.size * 2 + 1 > 20 AND m.attachments - 1 >= 0",
    "m.msgid NOT IN (SELECT r.inreplyto FROM messages r WHERE r.size > 10)",
    "EXISTS (a IN annotations: a.msgid = m.msgid AND a.number > 0.5)",
    "NOT EXISTS (r: r.inreplyto = m.msgid AND NOT EXISTS (s: s.inreplyto = r.msgid"
    " AND NOT EXISTS (a IN annotations: a.msgid = s.msgid AND a.ts > m.ts)))",
    "NOT EXISTS (r: r.inreplyto = m.msgid AND r.ts > now() - 2 seconds)",
    "EXISTS (r: m.references = r.msgid)",
    "m.subject LIKE '%{brace}%' OR m.subject = '$1 ''quoted'' \\ back'",
    "m.subject LIKE '%a_v%t%' OR m.subject LIKE '$_ %\\\\%k' OR m.to LIKE 'b%l@%.org'",
    "m.to_names HAS 'mary o' OR m.cc_names HAS 'ann' OR m.to_names HAS 'joe mary'",
    "m.diff_paths HAS 'inode.c' OR m.diff_paths LIKE 'fs/%' AND m.patch = 0",
    "m.filenames HAS 'report' OR m.filenames LIKE '%.png' OR m.media_types LIKE 'image/%'",
    "AGGREGATE (x NUMBER, age DURATION) RETURNS NUMBER STATE (s NUMBER, n INTEGER)"
    " INITIALIZE (x, 1) ITERATE (CASE WHEN age < 1 second THEN s ELSE s * 0.1 + x END, n + 1)"
    " TERMINATE s / n OF (a.number, a.ts - m.ts, a IN annotations: a.msgid = m.msgid) <> 0.3",
    "AGGREGATE (k TEXT, x INTEGER) RETURNS INTEGER STATE (s INTEGER) INITIALIZE (x)"
    " ITERATE (CASE WHEN k = '' THEN 0 ELSE 2 * s + x END)"
    " OF (coalesce(s.sender, ''), s.size, s: m.references = s.msgid) >= 15",
    "PERCENT_RANK() OVER (PARTITION BY m.sender ORDER BY m.received DESC) <= 0.5",
    "CUME_DIST() OVER (PARTITION BY m.sender ORDER BY m.size) <= 0.5",
    "NTILE(3) OVER (PARTITION BY m.sender ORDER BY m.size) = 2",
    "SHARE(DISTINCT r.msgid IN LAST 2 AMONG r.sender = m.sender: r.ts > m.ts) = 0.5",
    "NTILE(2, r AMONG r.sender = m.sender AND r.ts > now() - 3 seconds: r.size > m.size) = 2",
]

ROWS = {
    MESSAGES: [
        {
            "msgid": f"m{i}",
            "ts": 1_000_000 * (i // 2 + 1),
            "date": None if i % 3 == 0 else 1_000_000 * (i - 2),
            "sender": ["joe@x.org", None, "o'hara@x.org"][i % 3],
            "sender_name": [" Joe ", "Bill", None][i % 3],
            "subject": ["Naïve—Über_ test", "{brace}", None, "$1 'quoted' \\ back"][i % 4],
            "to": [["joe@x.org", "bill@y.org"], [], ["joe@x.org"]][i % 3],
            "to_names": [["Joe", "Mary O'Hara"], [], ["Über Joe"]][i % 3],
            "cc": [["a@x.org"], []][i % 2],
            "cc_names": [["Ann"], []][i % 2],
            "filenames": [["report_1.pdf", "Äpfel.PNG"], []][i % 2],
            "media_types": [["application/pdf", "image/png"], []][i % 2],
            "diff_paths": [["fs/ext4/Inode.c", "Makefile"], [], ["fs"]][i % 3],
            "patch": [0, 1, None][i % 3],
            "newsgroups": [[], ["comp.sys.mac", "zoo"]][i % 2],
            "references": [f"m{i - 1}", f"m{i + 1}"],
            "inreplyto": f"m{i - 2}" if i % 5 else None,
            "size": i * 3,
            "attachments": i % 2,
            "audience": ["public", "public", "user:alice", "user:bob"][i % 4],
        }
        for i in range(12)
    ],
    ANNOTATIONS: [
        {
            "annid": f"a{i}",
            "ts": 1_500_000 * (i + 1),
            "msgid": f"m{i}",
            "owner": "bob",
            "kind": "vote",
            "number": 1.0 if i % 2 else -1.0,
            "audience": ["public", "user:bob"][i // 3],
        }
        for i in range(6)
    ],
}


@pytest.fixture(scope="module")
def session(spark_server):
    session = connect(spark_server)
    yield session
    session.stop()


def snapshot_of(data, directory):
    """Write rows as the tables' Parquet files, two a table."""
    parts = {}
    for table, columns in COLUMNS.items():
        rows = sorted((_row(row, columns) for row in rows_of(data, table)), key=lambda r: r["ts"])
        parts[table] = []
        for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
            if half:
                written = pa.Table.from_pylist(half, schema=arrow_schema(table))
                path = write_parquet(directory, written, ROW_GROUP, REPEATING)
                bounds = bounds_of(table, written)
                parts[table].append(bounded_file(str(path), len(half), 0, bounds))
    messages, annotations, threads = map(tuple, parts.values())
    return Snapshot(messages, annotations, threads=threads)


def _row(row, columns):
    empty = {name: [] if kind is Type.SET else None for name, kind in columns.items()}
    made = empty | {name: value for name, value in row.items() if name in columns}
    if "received" in columns:
        made["received"] = received(row)
    if "starts" in columns and made["starts"] is None:
        made["starts"] = made["ts"]
    return {k: list(v) if isinstance(v, tuple) else v for k, v in made.items()}


def subscriptions(plans):
    return [
        Subscription(number, plan, AUDIENCES[: 1 + number % 2], BEGINNING)
        for number, plan in enumerate(plans)
    ]


ALL_SENT, LOOKED_UP, ALL_READ = None, Limits(sent=0), Limits(0, 0, 0, 0, 0)

IN_WINDOWS = pytest.mark.parametrize(
    "instants",
    [
        [3_000_000, 30_000_000],
        pytest.param([3_000_000, 4_000_001, 30_000_000], marks=pytest.mark.long),
    ],
    ids=len,
)
"""What there is already, and what comes: in the long run in two steps."""


@IN_WINDOWS
@pytest.mark.parametrize(
    "limits", [ALL_SENT, LOOKED_UP, ALL_READ], ids=["sent along", "looked up", "read by Spark"]
)
def test_spark_delivers_what_sqlite_does(session, tmp_path, limits, instants):
    asked = subscriptions([compile_filter(text, Context("alice")) for text in FILTERS])
    engine = spark.SparkEngine(session, snapshot_of(ROWS, tmp_path), limits)
    expected = execute_windows(SqliteEngine(ROWS), asked, instants)
    assert execute_windows(engine, asked, instants) == expected
    assert {m.filter_id for run in expected for m in run} == set(range(len(FILTERS)))


OF_VOTES = [
    "voted for by bob",
    "not voted for by bob",
    "voted for by more than zero people",
    "with a score below 0",
    "among the top one by votes",
    "not annotated by bob",
]


@IN_WINDOWS
@pytest.mark.parametrize(
    "limits",
    [
        pytest.param(ALL_SENT, marks=pytest.mark.long, id="sent along"),
        pytest.param(LOOKED_UP, marks=pytest.mark.long, id="looked up"),
        pytest.param(ALL_READ, id="read by Spark"),
    ],
)
def test_spark_lets_go_of_votes_that_are_taken_back_as_sqlite_does(
    session, tmp_path, limits, instants
):
    names = ("annid", "ts", "msgid", "owner", "kind", "value", "audience")
    rows = [
        ("r0", 3_500_000, "m0", "bob", "retraction", "a0", "public"),
        ("r1", 3_500_000, "m1", "bob", "retraction", "a1", "public"),
        ("r2", 4_500_000, "m2", "alice", "retraction", "a2", "public"),
    ]
    taken_back = [dict(zip(names, row, strict=True)) for row in rows]
    data = ROWS | {ANNOTATIONS: ROWS[ANNOTATIONS] + taken_back}
    engine, judge = (
        spark.SparkEngine(session, snapshot_of(data, tmp_path), limits),
        SqliteEngine(data),
    )
    asked = subscriptions([compile_filter(text, Context("alice")) for text in OF_VOTES])
    expected = execute_windows(judge, asked, instants)
    assert execute_windows(engine, asked, instants) == expected
    live = subscriptions([compile_filter(text, Context("alice"), "general") for text in OF_VOTES])
    changes = change_windows(judge, live, instants, net=False)
    assert change_windows(engine, live, instants, net=False) == changes
    assert any(change.op == "delete" and change.at == 3_500_000 for change in changes[1])


def test_like_is_linear_in_the_text_on_spark(session, tmp_path):
    """A body of one letter, and patterns that a backtracking search would never finish."""
    row = ROWS[MESSAGES][0] | {"body": "a" * 2**18}
    patterns = ["%a%a%a%a%b", "%a" * 2_000 + "%b%", "%a%a%a%"]
    asked = subscriptions(
        [compile_filter(f"m.body LIKE '{pattern}'", Context()) for pattern in patterns]
    )
    engine = spark.SparkEngine(session, snapshot_of({MESSAGES: [row]}, tmp_path))
    assert [m.filter_id for m in execute(engine, asked, 10**12, lambda _: set())] == [2]


def test_a_filter_from_now_on_delivers_the_same_on_spark(session, tmp_path):
    plan = compile_filter(FILTERS[14], Context("alice"))
    asked = [Subscription(0, plan, AUDIENCES, 2_500_000, 2_500_000)]
    engine = spark.SparkEngine(session, snapshot_of(ROWS, tmp_path))
    expected = execute(SqliteEngine(ROWS), asked, 9_000_000, lambda _: set())
    assert execute(engine, asked, 9_000_000, lambda _: set()) == expected
    assert expected


@pytest.mark.parametrize("examples", [3, pytest.param(30, marks=pytest.mark.long)])
def test_random_filters_deliver_the_same_on_spark(session, tmp_path_factory, examples):
    """Nearly eight at a time over one set of random tables, in three windows."""
    ran = 0

    @seed(19920602)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        generated_rows.data(),
        st.lists(random_filters.queries(), min_size=8, max_size=8),
        st.lists(thread_filters.queries(), min_size=2, max_size=2),
    )
    def same(data, queries, of_threads):
        nonlocal ran
        plans = []
        for query in [*queries, *of_threads]:
            try:
                plan = compile_query(query)
            except TapestryError:
                continue
            if len(plan.query.delta_queries) <= 6:
                plans.append(plan)
        ran += len(plans)
        asked = subscriptions(plans)
        stamps = sorted({row["ts"] for table in data.values() for row in table} | {0})
        instants = sorted({stamps[0], stamps[len(stamps) // 2], stamps[-1] + 10**12})
        engine = spark.SparkEngine(session, snapshot_of(data, tmp_path_factory.mktemp("random")))
        assert execute_windows(engine, asked, instants) == execute_windows(
            SqliteEngine(data), asked, instants
        )

    same()
    assert ran >= 6 * examples


@pytest.mark.parametrize("examples", [1, pytest.param(3, marks=pytest.mark.long)])
def test_random_counts_and_tops_deliver_the_same_on_spark(session, tmp_path_factory, examples):
    """20 each, of few shapes that each share a plan: what matches, and every change of that.

    The rows are sent along with a statement, or no more of them than a window reaches.
    """
    ran = 0

    @seed(19920602)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def same(draw):
        nonlocal ran
        worlds = [draw.draw(random_worlds.counting_worlds()) for _ in range(4)]
        queries = [world.query for world in worlds]
        queries += [
            draw.draw(random_filters.siblings(query)) for query in queries for _ in range(4)
        ]
        data, limits = worlds[0].data, LOOKED_UP if ran % 40 else ALL_SENT
        asked = subscriptions([compile_query(query, "general") for query in queries])
        ran += len(asked)
        directory = tmp_path_factory.mktemp("counts")
        engine = spark.SparkEngine(session, snapshot_of(data, directory), limits)
        sqlite = SqliteEngine(data)
        instants = [3, 12]
        assert execute_windows(engine, asked, instants) == execute_windows(sqlite, asked, instants)
        told = change_windows(sqlite, asked[:1], instants, net=False)
        assert change_windows(engine, asked[:1], instants, net=False) == told

    same()
    assert ran >= 20 * examples


def _counts(part):
    return bool(part.aggregate_tests) or any(map(_counts, part.not_exists))


@pytest.mark.parametrize(
    "instants", [[10**12], pytest.param([3_000_000, 10**12], marks=pytest.mark.long)], ids=len
)
@pytest.mark.parametrize("counting", [False, True], ids=["plain", "counting"])
def test_the_examples_of_every_rule_deliver_the_same_on_spark(
    session, tmp_path, counting, instants
):
    """In `make test` every second example; the long run has all, in two windows."""
    cases = [case for file in sorted(RULES.rglob("*.spec")) for case in parse(file.read_text())[0]]
    plans = []
    for text in dict.fromkeys(case.input for case in cases):
        with suppress(TapestryError):
            plan = compile_filter(text, Context("alice"))
            if counting == any(map(_counts, plan.query.normal.disjuncts)):
                plans.append(plan)
    assert len(plans) >= (15 if counting else 100)
    asked = subscriptions(plans if len(instants) > 1 else plans[::2])
    engine = spark.SparkEngine(session, snapshot_of(ROWS, tmp_path))
    expected = execute_windows(SqliteEngine(ROWS), asked, instants)
    assert execute_windows(engine, asked, instants) == expected


@pytest.mark.parametrize(
    ("text", "slices"),
    [
        ("about lunch", {"messages": [[9]]}),
        ("two weeks old from joe", {"messages": [[7], [9]]}),
        ("between 2 and 3 weeks old", {"messages": [[7], [9]]}),
        ("replied to by joe", {"messages": [[9], EVERY]}),
        ("voted for by bob", {"messages": [[9], EVERY], "annotations": [[9], EVERY]}),
        ("two weeks old with no reply", {"messages": [[7], [9], EVERY]}),
        ("with no reply for two weeks", {"messages": [[7], [9], EVERY]}),
    ],
)
def test_spark_reads_the_windows_slice_of_what_drives_a_rule(session, tmp_path, text, slices):
    """Ten files a table, each a week's; the window is the last day of the tenth week.

    What has an age is driven by the mail that reaches it, and by new mail that was older.
    """
    engine = spark.SparkEngine(session, weekly(tmp_path, 10), ALL_READ)
    plan = compile_filter(text, Context("alice"))
    asked = signature_groups([(Subscription(0, plan, AUDIENCES, 10 * WEEK - DAY), 10 * WEEK)])
    statement = lower(asked, 10 * WEEK, engine.covers)
    read = {}
    for view in statement.views:
        selected_columns = engine.frame(view, statement, ["msgid", "ts"]).inputFiles()
        weeks = sorted(int(re.search(r"/(\d+)/part-", name)[1]) for name in selected_columns)
        if weeks not in read.setdefault(view.table, []):
            read[view.table].append(weeks)
    assert {table: sorted(files) for table, files in read.items()} == {
        table: sorted(files) for table, files in slices.items()
    }


def weekly(directory, weeks):
    """Write a row each day to both tables, a file for each week."""
    parts = {}
    for table, columns in COLUMNS.items():
        parts[table] = []
        for week in range(weeks):
            days = [week * WEEK + day * DAY + DAY for day in range(7)]
            row = {"msgid": "m@x", "owner": "bob", "kind": "vote", "audience": "public"}
            rows = [_row(row | {"ts": ts, "annid": str(ts)}, columns) for ts in days]
            (directory / table / str(week)).mkdir(parents=True)
            written = pa.Table.from_pylist(rows, schema=arrow_schema(table))
            path = write_parquet(directory / table / str(week), written, ROW_GROUP, REPEATING)
            bounds = bounds_of(table, written)
            parts[table].append(bounded_file(str(path), 7, 0, bounds))
    return Snapshot(tuple(parts[MESSAGES]), tuple(parts[ANNOTATIONS]))


WORDY = ("lunch", "Lunch!", "the lunch-break", "lunches", "naïve lunch", "lunchï", "„lunch“ 2",
         "İlunch", "LUNCH\nbreak", "Straße lunch", "\u212aim", "kim", "kim\u0301", "ann@x.org",
         "Ann@x", "é@x.org", "a_b", "lunch\u00a0break", "漢字lunch", "x\u3000lunch", "Ⅷ lunch",
)  # fmt: skip
HAVING = ("lunch", "lunch break", "the lunch", "kim", "2", "naïve")
LIKE = ("lunch%", "%lunch", "%x.org", "ann@%", "kim%", "a_b", "l%k", "lunch")


def test_what_postings_decide_is_what_spark_gives(session, tmp_path):
    messages = [
        {
            "msgid": f"{n}@x",
            "ts": 2 + n,
            "audience": AUDIENCES[n % 2],
            "subject": text,
            "to": [text],
        }
        for n, text in enumerate(WORDY)
    ]
    rows = {MESSAGES: messages, ANNOTATIONS: []}
    filters = [f"m.{column} HAS '{words}'" for column in ("subject", "to") for words in HAVING]
    filters += [f"m.{column} LIKE '{text}'" for column in ("subject", "to") for text in LIKE]
    filters += [f"m.{column} = '{text}'" for column in ("subject", "to") for text in WORDY]
    engine = spark.SparkEngine(session, snapshot_of(rows, tmp_path))
    groups, decided, evaluated = decided_and_evaluated(
        filters, ("public",), messages, 1, 100, engine
    )
    assert decided == evaluated
    assert len(decided) > 30
    assert len(groups) > len(filters) / 2
