"""Own mail is known by its header, wherever that stands in the header section."""

import pytest

from tapestry.core.delivery_header import DELIVERY_HEADER, has_delivery_header

FIELD = f"{DELIVERY_HEADER}: 7".encode()


@pytest.mark.parametrize(
    "raw",
    [
        FIELD,
        FIELD + b"\r\n\r\nHello\r\n",
        b"Subject: a\n" + FIELD.upper() + b"\n\nHello\n",
        b"From joe Mon Nov 23\nSubject: a\n folded\n" + FIELD.replace(b":", b" :") + b"\n\n",
    ],
)
def test_own_mail_is_known(raw):
    assert has_delivery_header(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\r\n" + FIELD,
        b"Subject: a\r\n\r\n" + FIELD + b"\r\n",
        b"Subject: a\n\n" + FIELD,
        b"Subject: about\r\n " + FIELD + b"\r\n\r\n",
        b"X-" + FIELD + b"\r\n\r\n",
        b"Content-Type: message/rfc822\r\n\r\n" + FIELD + b"\r\n\r\nHello",
    ],
)
def test_other_mail_is_not(raw):
    assert not has_delivery_header(raw)
