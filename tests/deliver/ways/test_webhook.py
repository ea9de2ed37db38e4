"""Delivery by webhook, to a real server that checks the signature."""

from __future__ import annotations

import json

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from tapestry.deliver.batch import Outcome
from tapestry.deliver.http.signature import make_secret
from tapestry.deliver.ways.webhook import body_of, send
from tests.support.delivery.delivered_matches import KEY, NOW, batch, match
from tests.support.delivery.webhook_receiver import verify
from tests.support.servers.http_recorder import LOOPBACK, Reply, recording_server

SECRET = make_secret()


def send_to(server, matches, **options):
    options = {"destination": "jones", "allowed": LOOPBACK} | options
    return send(batch(*matches), server.url(), [SECRET], NOW, **options)


def test_the_receiver_gets_signed_json():
    with recording_server(Reply(200, b"Thanks.")) as server:
        outcome = send_to(server, [match(1), match(2, op="delete", subject="Wörds")])
    assert outcome == Outcome("delivered", "200 OK: Thanks.")
    (request,) = server.requests
    assert verify(request.headers, request.body, SECRET, NOW) == KEY
    assert request.headers["Content-Type"] == "application/json"
    document = json.loads(request.body)
    assert (document["delivery"], document["destination"]) == (KEY, "jones")
    assert document["matches"][0] == {
        "sequence": 1,
        "op": "insert",
        "filter": "filter-1",
        "title": "filter-1",
        "msgid": "m1@example.com",
        "subject": "Subject 1",
        "from": {"name": "Brian Jones", "address": "jones@example.com"},
        "received": "2026-11-23T06:00:00.000001Z",
        "matched_at": "2026-11-23T07:00:00Z",
        "why": "Jones replied to message 1",
        "url": "https://tapestry.example.org/message/1/",
    }
    assert document["matches"][1]["op"] == "delete"
    assert document["matches"][1]["subject"] == "Wörds"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(204), Outcome("delivered", "204 No Content")),
        (Reply(410, b"Gone."), Outcome("refused", "410 Gone: Gone.")),
        (Reply(429, b"", {"Retry-After": "90"}), Outcome("retry", "429 Too Many Requests", 90.0)),
        (Reply(503, b"", {"Retry-After": "9"}), Outcome("retry", "503 Service Unavailable", 9.0)),
        (Reply(503), Outcome("retry", "503 Service Unavailable")),
        (
            Reply(500, b"<h1>Oops</h1>"),
            Outcome("retry", "500 Internal Server Error: <h1>Oops</h1>"),
        ),
        (Reply(404), Outcome("retry", "404 Not Found")),
        (Reply(302, b"", {"Location": "https://x.org/"}), Outcome("retry", "302 Found")),
    ],
)
def test_the_answer_decides(reply, outcome):
    with recording_server(reply) as server:
        assert send_to(server, [match()]) == outcome


def test_a_private_host_is_refused_for_good():
    with recording_server(authority=trustme.CA(), host="127.0.0.1") as server:
        outcome = send_to(server, [match()], allowed=[])
    assert outcome.state == "refused"
    assert outcome.answer == "127.0.0.1 is not a public host, so nothing is sent to it."
    assert server.requests == []


def test_plain_http_to_a_public_host_is_refused_for_good():
    outcome = send(
        batch(match()),
        "http://hooks.test/",
        [SECRET],
        NOW,
        destination="jones",
        allowed=[],
        resolve=lambda host, port: ["9.9.9.9"],
    )
    assert outcome.state == "refused"
    assert outcome.answer.startswith("An address must begin with https://")


def test_a_server_that_is_away_is_tried_again():
    with recording_server() as server:
        pass
    outcome = send_to(server, [match()])
    assert outcome == Outcome("retry", "127.0.0.1 gave no answer within 10 seconds.")


@given(st.text(st.characters()), st.text(st.characters()))
def test_any_words_are_json(subject, name):
    body = body_of(batch(match(subject=subject, sender_name=name)), "jones")
    (found,) = json.loads(body)["matches"]
    assert (found["subject"], found["from"]["name"]) == (subject, name)
