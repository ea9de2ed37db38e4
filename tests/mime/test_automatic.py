"""Mail of programs, by its headers."""

import pytest

from tapestry.ingest.parse import parse

REPORT = b"""From: Mail Delivery System <MAILER-DAEMON@x.org>
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b

Your message could not be delivered?
--b--
"""
INVITATION = b"""From: joe@x.org
Content-Type: multipart/alternative; boundary=b

--b

Will you come?
--b
Content-Type: text/calendar; method=REQUEST

BEGIN:VCALENDAR
--b--
"""


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        (b"", None),
        (b"Auto-Submitted: no\n", None),
        (b"Auto-Submitted: auto-replied (vacation)\n", "reply"),
        (b"X-Autoreply: yes\n", "reply"),
        (b"Precedence: auto_reply\n", "reply"),
        (b"Auto-Submitted: auto-generated; owner-email=x\n", "notice"),
        (b"X-Auto-Response-Suppress: All\n", None),
        (b"Return-Path: <>\n", "report"),
        (b"Precedence: bulk\n", "bulk"),
        (b"List-Unsubscribe: <https://x.org/>\n", "bulk"),
        (b"Precedence: list\nList-Id: <a.x.org>\n", None),
        (b"Precedence: bulk\nIn-Reply-To: <a@x.org>\n", None),
    ],
)
def test_headers_say_which_program_sent_a_message(headers, kind):
    parsed = parse(headers + b"From: joe@x.org\nSubject: Hi\n\nAre you there?\n")
    assert parsed.message.automatic == kind
    assert parsed.message.questions == 1


def test_reports_and_invitations_are_told_by_their_parts():
    assert parse(REPORT).message.automatic == "report"
    assert parse(INVITATION).message.automatic == "calendar"
