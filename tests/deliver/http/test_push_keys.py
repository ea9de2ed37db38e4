"""Keys of web push, and subscriptions as browsers send them."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from py_vapid import Vapid02
from py_vapid.utils import b64urldecode

from tapestry.core.errors import TapestryError
from tapestry.deliver.http.push_keys import make_private_pem, read_subscription, read_vapid_keys
from tests.support.servers.push_service import Browser

ENDPOINT = "https://push.example/send/1"


def test_the_keys_of_this_site_are_a_pair():
    keys, others = (read_vapid_keys(make_private_pem(), "mailto:a@x.org") for _ in range(2))
    point = b64urldecode(keys.public_key.encode())
    assert (len(point), point[0]) == (65, 4)
    public = Vapid02.from_pem(keys.private_pem.encode()).public_key
    assert public == Vapid02.from_raw_public(keys.public_key.encode()).public_key
    assert keys.public_key != others.public_key
    assert "PRIVATE" not in repr(keys)


def test_the_subscription_of_a_browser_is_read():
    browser = Browser.new()
    document = browser.subscription(ENDPOINT)
    found = read_subscription({**document, "expirationTime": None})
    assert found.as_browsers_write_it() == document
    assert browser.auth_text not in repr(found)


def changed(endpoint=ENDPOINT, **keys):
    document = Browser.new().subscription(endpoint)
    return {**document, "keys": {**document["keys"], **keys}}


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "text",
        {},
        {"endpoint": ENDPOINT},
        {"endpoint": ENDPOINT, "keys": []},
        changed(p256dh=None),
        changed(p256dh=""),
        changed(p256dh="ü"),
        changed(p256dh=urlsafe_b64encode(b"\x04" + b"\x01" * 64).decode()),
        changed(auth=None),
        changed(auth=""),
        changed(auth="A"),
        changed(auth=urlsafe_b64encode(b"a" * 15).decode()),
    ],
)
def test_what_is_no_subscription_is_refused(document):
    with pytest.raises(TapestryError, match="not the subscription of a browser"):
        read_subscription(document)


def test_a_service_without_an_address_is_refused():
    with pytest.raises(TapestryError, match="not the address of a web server"):
        read_subscription(changed(endpoint="file:///etc/passwd"))


@given(st.text(), st.text(), st.text())
def test_any_words_are_refused(endpoint, p256dh, auth):
    with pytest.raises(TapestryError):
        read_subscription({"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}})
