"""Signatures of webhooks."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapestry.core.clock import MINUTE, SECOND
from tapestry.core.errors import TapestryError
from tapestry.deliver.http.signature import make_secret, signed_headers
from tests.support.delivery.webhook_receiver import verify

NOW = 1_614_265_330 * SECOND
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'
DELIVERY = "msg_p5jXN8AQM9LWM0D4loKWxJek"


def test_the_signature_is_that_of_the_standard_webhooks_libraries():
    assert signed_headers(DELIVERY, BODY, [SECRET], NOW) == {
        "webhook-id": DELIVERY,
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_while_a_secret_is_changed_either_will_do():
    secrets = [make_secret(), make_secret()]
    headers = signed_headers("d1", BODY, secrets, NOW)
    assert [verify(headers, BODY, secret, NOW) for secret in secrets] == ["d1", "d1"]


def test_every_secret_is_new_and_has_32_bytes():
    secrets = {make_secret() for _ in range(100)}
    assert len(secrets) == 100
    assert all(len(base64.b64decode(secret.removeprefix("whsec_"))) == 32 for secret in secrets)


@given(st.binary(), st.integers(-5 * 60, 5 * 60))
def test_what_was_signed_is_right_within_five_minutes(body, seconds):
    headers = signed_headers("d1", body, [SECRET], NOW)
    assert verify(headers, body, SECRET, NOW + seconds * SECOND) == "d1"


def test_names_of_fields_may_be_written_in_any_case_and_one_signature_suffices():
    headers = signed_headers("d1", BODY, [SECRET], NOW)
    fields = {name.title(): value for name, value in headers.items()}
    fields["Webhook-Signature"] = "v1a,eA== v1,eA== ü " + fields["Webhook-Signature"]
    assert verify(fields, BODY, SECRET, NOW) == "d1"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("webhook-id", "d2"),
        ("webhook-timestamp", "1614265331"),
        ("webhook-signature", ""),
        ("webhook-signature", "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ("webhook-signature", "v1,ü"),
    ],
)
def test_what_was_changed_is_not_right(field, value):
    headers = {**signed_headers("d1", BODY, [SECRET], NOW), field: value}
    with pytest.raises(TapestryError, match="signature of the request is not right"):
        verify(headers, BODY, SECRET, NOW)


def test_another_body_and_another_secret_are_not_right():
    headers = signed_headers("d1", BODY, [SECRET], NOW)
    for body, secret in ((BODY + b" ", SECRET), (BODY, make_secret())):
        with pytest.raises(TapestryError, match="is not right"):
            verify(headers, body, secret, NOW)


@pytest.mark.parametrize("timestamp", ["", "soon", "-1614265330", "١٦١٤٢٦٥٣٣٠", "1" * 5000])
def test_a_request_without_a_time_is_refused(timestamp):
    headers = {**signed_headers("d1", BODY, [SECRET], NOW), "webhook-timestamp": timestamp}
    with pytest.raises(TapestryError, match="within the last five minutes"):
        verify(headers, BODY, SECRET, NOW)


@pytest.mark.parametrize("passed", [5 * MINUTE + SECOND, -5 * MINUTE - SECOND])
def test_a_request_that_is_sent_again_later_is_refused(passed):
    with pytest.raises(TapestryError, match="within the last five minutes"):
        verify(signed_headers("d1", BODY, [SECRET], NOW), BODY, SECRET, NOW + passed)


def test_a_secret_that_is_none_is_an_error_in_words():
    with pytest.raises(TapestryError, match="whsec_ and base64"):
        signed_headers("d1", BODY, ["whsec_not base64"], NOW)


def test_a_delivery_with_a_full_stop_could_be_taken_for_another():
    with pytest.raises(ValueError, match="full stop"):
        signed_headers("d1.5", BODY, [SECRET], NOW)
