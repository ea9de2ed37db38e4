"""What the site answers: to every address, to what people post and search for, and in print."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from io import StringIO
from urllib.parse import quote

from django.core.management import call_command
from django.test import Client

from filters.api.api import described
from filters.api.authentication import make_token
from filters.api.models import SCOPES
from filters.authoring import tasks
from filters.authoring.models import Filter
from filters.authoring.results import backtests, previews
from filters.compose.models import OutgoingMessage
from filters.delivery.models import KeptMail
from filters.delivery.ways.table import WAYS
from filters.inbox import tasks as search_tasks
from filters.inbox.models import Match
from filters.inbox.search import searches
from filters.inbox.search.reading import read_search
from filters.people.models import User
from filters.site.work.crypto import arrival_tokens
from tests.support.answers.every_address import every_address
from tests.support.answers.imap_answers import told_by_imap
from tests.support.answers.jmap_answers import told_by_jmap
from tests.support.answers.two_worlds import FILTERS, Site

MSGIDS = (
    *("plan@x", "lunch@x", "for-carol@x", "for-staff@x", "reply@x", "last@x"),
    *("hidden-0-user@x", "to-plan-1-grou@x", "nothing@x"),
)
AUDIENCES = ("", "public", "user:carol", "group:staff", "user:alice", "group:parc", "user:nobody")
TEXTS = ("from ", "from bo", "on list ", "in group com", "tagged ", "tagged ho", "replies to boss")
TEXTS += ("in alice's ", "in alice's s", "voted for by ", "in keep", "in secret", "in dave2's ")
MISREAD = ("replies bye boss", "tagged hoz", "in alice's secretkeep-plans", "in carol-secret's x")

WORDS = ("plan", "plan lunch", "boss@example.org")

OF_SOURCES = ("source", "edit-source", "source-folders", "delete-source")

PASSING = re.compile(
    r'csrfmiddlewaretoken" value="\w+"|name="(?:uid|editor)" value="[\w-]{36}"'
    r'|x-csrftoken": "\w+"|seen=\w+|name="change" value="[\w:.-]+"|/act/\w+/[^/"\s]+'
    r"|/(?:unsubscribe|arrived)/[^/\s>]+|(?m:^(?:Date|X-Tapestry\S*): .*$)|={5,}\d+=="
    r"|(?:preview|search|triage/undo)/[\w-]{36}|urn:uuid:[\w-]{36}|sample-[0-9a-f]{32}(?:-\d+)?|v1,[\w/+]{43}="
    r'|"(?:next|key)": "[\w-]{22}"|"id": "[\w-]{36}"'
    r"|\.[0-9a-f]{32}(?=@)|<dt>Topic</dt><dd>[\w-]{32}"
)
"""Random values, signatures, keyed digests and the seconds of the real clock."""

NUMBERED = re.compile(
    r"((?:/source|/delivery|/feeds|/mail|/trial|/importance)/(?:webhook/|push/|unmute/)?)\d+"
    r'|(name="(?:filters|destinations)" value=")\d+|(<option value=")\d+'
    r'|((?:"|&quot;)sequence(?:"|&quot;): ?)\d+|("cursor": ?)\d+'
    r"|([0-9a-f]{32})-\d+-\d+|([0-9a-f]{32})-\d+(?=@)"
)
"""What numbers the rows of all people: known, see “What others can tell” in filters/DESIGN.md."""


def settled(text: str) -> str:
    """Return an answer without what differs from one request to the next."""
    return NUMBERED.sub(lambda found: "".join(filter(None, found.groups())), PASSING.sub("", text))


def get_addresses(site: Site, name: str) -> dict[str, str]:
    """Return every address of the site, with keys of a person's things, and queries of many.

    Each by a name without keys, which is the same in both worlds.
    """
    keys = site.keys[name]
    mail = KeptMail.objects.filter(owner__username=name).order_by("pk").first()
    values = {
        **{"pk": keys["webhook"], "name": "keep-plans", "kind": "webhook"},
        **{"task": str(uuid.UUID(int=7)), "step": str(uuid.UUID(int=7)), "action": "done"},
        **{"uid": keys["draft"], "key": "forged", "owner": "alice"},
        **{f"{route}.pk": keys["source"] for route in OF_SOURCES},
        **{"trial.pk": keys["trial"], "unmute.pk": keys["mute"], "feed.token": f"of-{name}-all"},
        "feed-calendar.token": f"of-{name}-all",
        **{f"{route}.pk": str(mail and mail.pk) for route in ("kept-mail", "kept-mail-html")},
        **{"act": "vote", "token": "forged", "id": "1", "object_id": "1", "content_type_id": "1"},
        **{"app_label": "filters", "url": "nothing", "account": "forged", "blob": "forged"},
    }  # fmt: skip
    found = every_address(values)
    for kind in WAYS:
        found[f"preview of {kind}"] = f"/delivery/{keys[kind]}/preview/"
    found["page of digest"] = f"/delivery/{keys['digest']}/preview/html/"
    others = [f"/in/{mode}-{filter_}/" for mode in ("keep", "live") for filter_ in FILTERS]
    others += [f"/in/live-{filter_}/gone/" for filter_ in FILTERS]
    others += [f"/feeds/of-{name}-plans.atom"]
    others += [f"/?open={msgid}&in={audience}" for msgid in MSGIDS[:2] for audience in AUDIENCES]
    others += [
        f"/message/{page}?id={msgid}&in={audience}"
        for page in (
            *("", "letter/", "standing/", "html/"),
            *("original/", "original/file/", "actions/"),
        )
        for msgid in MSGIDS
        for audience in (AUDIENCES if msgid == "plan@x" and not page else ("", "user:alice"))
    ]
    others += [
        f"/filters/like/?id={msgid}&in={audience}"
        for msgid in MSGIDS
        for audience in ("", "public", "user:alice")
    ]
    others += [f"/filters/complete/?text={text}&at={len(text)}&all" for text in TEXTS]
    others += [f"/filters/new/?text={text}" for text in MISREAD]
    others += [f"/compose/?id={msgid}&way=all" for msgid in MSGIDS]
    others += [f"/compose/?id=plan@x&in={audience}" for audience in AUDIENCES]
    return found | {address: address for address in others}


def answers(client: Client, name: str, addresses: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the status, the headers and the body of every address."""
    for what, address in addresses.items():
        response = client.get(address)
        headers = {k: v for k, v in response.headers.items() if k not in ("ETag", "Expires")}
        body = b"".join(response) if response.streaming else response.content
        headers.pop("Content-Length", None)
        headers.pop("Last-Modified", None)
        answer = f"{response.status_code} {headers} {body.decode()}"
        yield f"{name}: {what}", answer


def posted(client: Client, person: User) -> Iterator[tuple[str, str]]:
    """Yield what is answered to what a person writes, votes, and asks for."""
    name = person.username
    for text in (*FILTERS.values(), *MISREAD, "in alice's sharedkeep-plans"):
        for mode in ("keep", "live"):
            response = client.post("/filters/understand/", {"text": text, "mode": mode})
            yield f"{name} understood: {text}, {mode}", response.content.decode()
            if text not in MISREAD:
                task = str(uuid.uuid4())
                previews.PREVIEWS.begin(task, person.pk, task)
                tasks.preview.apply((text, person.pk, mode), task_id=task)
                page = client.get(f"/filters/preview/{task}/").content.decode()
                assert "message" in page
                yield f"{name} saw all: {text}, {mode}", all_of(client, "preview/all", text, mode)
                yield f"{name} previewed: {text}, {mode}", page
    for text, mode in (("about plan", "keep"), (FILTERS["top"], "live")):
        task, asked = str(uuid.uuid4()), (text, person.pk, mode, 12)
        question = backtests.backtest_question(text, mode=mode, weeks=12)
        backtests.BACKTESTS.begin(task, person.pk, question)
        tasks.backtest.apply(asked, task_id=task)
        page = all_of(client, "backtest", text, mode)
        assert "it would have delivered" in page
        yield f"{name} backtested: {text}, {mode}", page
    for text in MISREAD:
        response = client.post("/filters/new/", {"text": text, "mail": "existing"})
        yield f"{name} wrote: {text}", response.content.decode()
    for msgid in MSGIDS:
        for audience in ("", "public", "user:alice"):
            said = {"id": msgid, "audience": audience, "kind": "vote", "number": "1"}
            response = client.post("/message/annotate/", said, headers={"HX-Request": "true"})
            yield f"{name} voted: {msgid} {audience}", response.content.decode()
    match = Match.objects.filter(filter__owner=person, retracted_at=None).order_by("msgid").first()
    assert match is not None
    read_all = client.post("/read/", {"filter": "keep-plans"})
    yield f"{name} read all", f"{read_all.status_code} {read_all.headers['Location']}"


def all_of(client: Client, address: str, text: str, mode: str) -> str:
    """Return the page of all that was found of late for a text."""
    return client.get(f"/filters/{address}/", {"text": text, "mode": mode}).content.decode()


def searched(client: Client, person: User) -> Iterator[tuple[str, str]]:
    """Yield what a person finds by filters and by words, everywhere and within a filter."""
    plans, name = Filter.objects.get(owner=person, name="keep-plans"), person.username
    everywhere = (*FILTERS.values(), *WORDS, *MISREAD, "in alice's sharedkeep-plans")
    asked = [(text, None, "") for text in everywhere]
    asked += [(text, plans, "&in=keep-plans") for text in ("replied to", "plan")]
    for text, within, more in asked:
        address, read = f"?q={quote(text)}{more}", read_search(text, person)
        if read.understood:
            task, question = str(uuid.uuid4()), searches.question(read.asked, within)
            searches.SEARCHES.begin(task, person.pk, question)
            search_tasks.search.apply((read.asked, person.pk, within and within.pk), task_id=task)
            page = client.get(f"/search/{task}/{address}").content.decode()
            assert "</strong> message" in page
            yield f"{name} polled: {address}", page
        yield f"{name} searched: {address}", client.get(f"/search/{address}").content.decode()
    opened = client.get("/search/?q=about%20plan&open=plan@x").content.decode()
    yield f"{name} opened what was found", opened


def called(person: User) -> Iterator[tuple[str, str]]:
    """Yield what the API answers to a program of a person."""
    secret = make_token(person, "of the tests", SCOPES, 1)[1]
    client, headers = Client(), {"Authorization": f"Bearer {secret}"}
    lists = [f"filters/{mode}-{filter_}" for mode in ("keep", "live") for filter_ in FILTERS]
    about = [(msgid, audience) for msgid in MSGIDS for audience in ("", "user:alice")]
    asked = ["filters", *lists, *(f"{filter_}/matches" for filter_ in lists)]
    asked += [f"message?id={msgid}&audience={audience}" for msgid, audience in about]
    asked += [f"message/original?id={msgid}&in={audience}" for msgid, audience in about]
    for address in asked:
        response = client.get(f"/api/v1/{address}", headers=headers)
        yield f"{person} called: {address}", f"{response.status_code} {response.content.decode()}"
    for address in reading_calls(person):
        response = client.get(f"/api/v1/{address}", headers=headers)
        call = "arrived" if address.startswith("arrived/") else address  # its token has a key in it
        yield f"{person} called: {call}", f"{response.status_code} {response.content.decode()}"
    for msgid, audience in about:
        given = {"answers": msgid, "audience": audience}
        response = client.post(
            "/api/v1/drafts", data=given, content_type="application/json", headers=headers
        )
        content = f"{response.status_code} {response.content.decode()}"
        OutgoingMessage.objects.filter(owner=person, parent=msgid).delete()  # its key is random
        yield f"{person} began to answer: {msgid} {audience}", content
    for name, content in told_by_jmap(client, headers):
        yield f"{person} was told: {name}", content
    for name, content in told_by_imap(person):
        yield f"{person} was told by IMAP: {name}", content
    for text in (*FILTERS.values(), *MISREAD):
        response = client.post(
            "/api/v1/understand",
            data={"text": text},
            content_type="application/json",
            headers=headers,
        )
        yield f"{person} called: {text}", f"{response.status_code} {response.content.decode()}"


def reading_calls(person: User) -> list[str]:
    """Return every call of the API that reads: of the person's own things, by the route alone."""
    draft = OutgoingMessage.objects.filter(owner=person).order_by("pk").first()
    assert draft is not None
    values = {"name": "keep-plans", "task": str(uuid.UUID(int=7)), "id": str(draft.uid)}
    values["token"] = arrival_tokens.of_letter(draft.pk)
    lists = [f"lists/{name}" for name in ("inbox", "starred", "snoozed", "done", "muted")]
    paths = [path[8:] for path, calls in described()["paths"].items() if "get" in calls]
    own = [path for path in paths if "{key}" not in path and not path.startswith("lists/")]
    return [*lists, *(path.format(**values) for path in own)]


def commands(person: User) -> Iterator[tuple[str, str]]:
    """Yield what programs print of what a person sees."""
    for command in (
        *(("ask", text, "--user", person.username, "--json") for text in FILTERS.values()),
        ("ask", "about plan"),
        *(("matches", f"{person.username}.{mode}-plans", "--json") for mode in ("keep", "live")),
        ("matches", f"{person.username}.live-silent"),
    ):
        out = StringIO()
        call_command(*command, stdout=out)
        printed = re.sub(r"(?m)^\d+ ([+-])", r"\1", out.getvalue())  # positions, see NUMBERED
        yield " ".join(command), printed
