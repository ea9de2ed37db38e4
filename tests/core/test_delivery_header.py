"""Own mail is known by its header, signed, wherever that stands in the header section."""

import pytest

from tapestry.core.delivery_header import DELIVERY_HEADER, DeliverySigner, delivery_values

SIGNER = DeliverySigner(b"of this site")
OTHER = DeliverySigner(b"of another site")
VALUE = SIGNER.value("7")
FIELD = f"{DELIVERY_HEADER}: {VALUE}".encode()
FOREIGN = f"{DELIVERY_HEADER}: {OTHER.value('7')}".encode()


@pytest.mark.parametrize(
    "raw",
    [
        FIELD,
        FIELD + b"\r\n\r\nHello\r\n",
        b"Subject: a\n" + FIELD.replace(b"Tapestry", b"TAPESTRY") + b"\n\nHello\n",
        b"From joe Mon Nov 23\nSubject: a\n folded\n" + FIELD.replace(b":", b" :") + b"\n\n",
        FIELD.replace(b"; ", b";\r\n\t") + b"\r\nSubject: folded on its way\r\n\r\n",
        FOREIGN + b"\r\n" + FIELD + b"\r\nSubject: resent by another site too\r\n\r\n",
    ],
)
def test_own_mail_is_known(raw):
    assert SIGNER.has_signed(raw)
    assert not OTHER.has_signed(raw.replace(FOREIGN, b"X: 1"))


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
        FOREIGN + b"\r\n\r\n",
        FIELD.replace(b": 7", b": 8") + b"\r\n\r\n",
        FIELD[:-1] + b"\r\n\r\n",
        FIELD + b"0\r\n\r\n",
        DELIVERY_HEADER.encode() + b": 7\r\n\r\n",
        DELIVERY_HEADER.encode() + b": \xff; mac=" + b"\xff" * 32 + b"\r\n\r\n",
    ],
)
def test_other_mail_is_not(raw):
    assert not SIGNER.has_signed(raw)


def test_the_key_comes_back_and_the_secret_does_not_show():
    assert SIGNER.key_of(f"  {VALUE} ") == "7"
    assert list(delivery_values(FIELD + b"\n" + FOREIGN + b"\n\n")) == [VALUE, OTHER.value("7")]
    assert "of this site" not in repr(SIGNER)
