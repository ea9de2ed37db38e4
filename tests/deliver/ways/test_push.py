"""Delivery by web push, to a local push service that decrypts it and checks who sent it."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.clock import HOUR, SECOND
from tapestry.deliver.batch import Outcome
from tapestry.deliver.http.push_keys import make_private_pem, read_subscription, read_vapid_keys
from tapestry.deliver.ways.push import LARGEST, payload, send, topic
from tests.support.delivery.delivered_matches import KEY, NOW, batch, match
from tests.support.servers.http_recorder import LOOPBACK, Reply, recording_server
from tests.support.servers.push_service import Browser, vapid_claims

PAGE = "https://tapestry.example/inbox"
KEYS = read_vapid_keys(make_private_pem(), "mailto:operator@tapestry.example")
BROWSER = Browser.new()
ANY_TEXT = st.text(st.characters(), max_size=300)


def send_to(server, *matches, **options):
    endpoint = server.url("/send/abc")
    subscription = read_subscription(BROWSER.subscription(endpoint))
    options = {"page_url": PAGE, "unread": 7, "allowed": LOOPBACK} | options
    return send(batch(*matches), subscription, KEYS, NOW, **options)


def shown(*matches):
    return json.loads(payload(batch(*matches), PAGE, 3))


def test_the_browser_gets_one_notification_of_a_batch():
    with recording_server(Reply(201)) as server:
        outcome = send_to(server, match(1), match(2), match(3, subject=""))
    assert outcome == Outcome("delivered", "201 Created")
    (request,) = server.requests
    assert request.path == "/send/abc"
    assert b"Subject" not in request.body
    assert BROWSER.decrypt(request) == {
        "title": "3 new in filter-1",
        "body": "Brian Jones: Subject 1\nBrian Jones: Subject 2\nBrian Jones: (no subject)",
        "url": PAGE,
        "tag": KEY,
        "unread": 7,
    }


def test_the_service_knows_this_site_by_its_key():
    with recording_server(Reply(201)) as server:
        send_to(server, match(1))
    claims, key = vapid_claims(server.requests[0])
    assert key == KEYS.public_key
    assert claims == {
        "aud": server.url(""),
        "exp": (NOW + 12 * HOUR) // SECOND,
        "sub": "mailto:operator@tapestry.example",
    }


def test_the_service_keeps_it_for_a_day_and_a_repeated_one_takes_its_place():
    with recording_server(Reply(201)) as server:
        for _ in range(2):
            send_to(server, match(1))
    first, second = (request.headers for request in server.requests)
    assert (first["TTL"], first["Urgency"]) == ("86400", "normal")
    assert first["Topic"] == second["Topic"] == topic(KEY)
    assert topic(KEY) != topic("d7-9-10")
    assert set(map(len, map(topic, ("", "d7", "d" * 99)))) == {32}


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(202), Outcome("delivered", "202 Accepted")),
        (Reply(404), Outcome("refused", "404 Not Found")),
        (Reply(410, b"unsubscribed"), Outcome("refused", "410 Gone: unsubscribed")),
        (Reply(413), Outcome("retry", "413 Request Entity Too Large")),
        (Reply(429, b"", {"Retry-After": "60"}), Outcome("retry", "429 Too Many Requests", 60.0)),
        (Reply(500), Outcome("retry", "500 Internal Server Error")),
        (Reply(403, b"bad key"), Outcome("retry", "403 Forbidden: bad key")),
    ],
)
def test_the_answer_decides(reply, outcome):
    with recording_server(reply) as server:
        assert send_to(server, match(1)) == outcome


def test_a_service_on_a_private_host_is_refused_for_good():
    with recording_server(authority=trustme.CA(), host="127.0.0.1") as server:
        outcome = send_to(server, match(1), allowed=[])
    assert (outcome.state, server.requests) == ("refused", [])


def test_a_service_that_no_token_can_name_is_refused_for_good():
    subscription = read_subscription(BROWSER.subscription("https://[2620:fe::fe]/send"))
    outcome = send(batch(match(1)), subscription, KEYS, NOW, page_url=PAGE, unread=7, allowed=[])
    assert outcome == Outcome("refused", "No push service is at https://[2620:fe::fe].")


def test_a_service_that_is_away_is_tried_again():
    with recording_server() as server:
        pass
    assert send_to(server, match(1)).state == "retry"


def test_nothing_is_sent_of_what_only_left_a_list():
    with recording_server() as server:
        outcome = send_to(server, match(1, op="delete"))
    assert (outcome.state, server.requests) == ("delivered", [])


def test_a_notification_about_one_message_opens_it():
    assert shown(match(1))["title"] == "1 new in filter-1"
    assert shown(match(1))["url"] == match(1).url
    assert shown(match(1), match(2))["url"] == PAGE
    assert shown(match(1, url=""))["url"] == PAGE


def test_a_notification_about_several_filters_counts_them():
    found = shown(match(1), match(2, filter_id=8, filter_name="lunch"), match(3, op="delete"))
    assert found["title"] == "2 new in 2 filters"


def test_a_notification_about_many_messages_names_the_first():
    lines = shown(*(match(number) for number in range(1, 11)))["body"].splitlines()
    assert lines == [*(f"Brian Jones: Subject {number}" for number in (1, 2, 3)), "and 7 more"]


@given(st.lists(ANY_TEXT, min_size=1, max_size=6), ANY_TEXT, ANY_TEXT)
def test_any_words_fit_into_a_notification(subjects, sender, name):
    matches = [
        match(number, subject=subject, sender_name=sender, filter_name=name)
        for number, subject in enumerate(subjects, 1)
    ]
    document = payload(batch(*matches), PAGE + "?" + "x" * 1000, 3)
    assert len(document) <= LARGEST <= 4096 - 103, "RFC 8291 section 4"
    assert json.loads(document)["tag"] == KEY


@given(st.text(st.characters(codec="utf-8"), max_size=20_000), st.integers(1, 5), ANY_TEXT)
def test_a_message_id_of_any_length_fits_into_a_notification(msgid, count, subject):
    url = f"{PAGE}?id={quote(msgid)}"
    matches = [
        match(number, url=url, msgid=msgid, subject=subject) for number in range(1, count + 1)
    ]
    document = payload(batch(*matches), PAGE, 3)
    assert len(document) <= LARGEST
    assert json.loads(document)["url"] in ((url, PAGE) if count == 1 else (PAGE,))


def test_the_page_opens_where_the_address_of_the_message_is_too_long():
    long = match(1, url="https://tapestry.example/m/?id=" + "%C3%A9" * 900)
    assert shown(long) == shown(match(1)) | {"url": PAGE}


def test_lines_are_left_out_where_the_address_of_the_page_is_long():
    matches = [match(number, sender_name="\U0001d11e" * 120) for number in range(1, 5)]
    document = payload(batch(*matches), PAGE + "?" + "x" * 2500, 3)
    assert len(document) <= LARGEST
    assert len(json.loads(document)["body"].splitlines()) == 2


def test_long_words_are_cut():
    found = shown(match(1, subject="a\x00\n\x1b[1m " + "😀" * 200))
    assert found["body"] == "Brian Jones: a [1m " + "😀" * 100 + "…"
    assert len(shown(match(1, filter_name="x" * 200))["title"]) == 120
