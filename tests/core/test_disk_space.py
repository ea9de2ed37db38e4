"""A full disk is told from errors of what writes to it, never from the words of others."""

from __future__ import annotations

import errno
import imaplib
import smtplib
import sqlite3

import pytest
from deltalake.exceptions import CommitFailedError, DeltaError
from django.db import IntegrityError, OperationalError
from py4j.protocol import Py4JError

from tapestry.core.errors import TapestryError
from tapestry.core.files.disk_space import DiskFullError, is_disk_full
from tapestry.servers.account import Account, ConnectionLostError, RefusedError, connection_lost

PHRASES = ("No space left on device", "database or disk is full", "Disk quota exceeded")


def caused(error: Exception, cause: Exception) -> Exception:
    """An error that was raised from another."""
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    "error",
    [
        DiskFullError(),
        OSError(errno.ENOSPC, "voll"),
        OSError(errno.EDQUOT, "voll"),
        OSError("Generic LocalFileSystem error: No space left on device (os error 28)"),
        sqlite3.OperationalError("database or disk is full"),
        OperationalError("could not extend file: No space left on device"),
        DeltaError("Disk quota exceeded (os error 122)"),
        CommitFailedError("No space left on device (os error 28)"),
        Py4JError("java.io.IOException: No space left on device"),
        caused(TapestryError("It failed."), OSError(errno.ENOSPC, "voll")),
    ],
)
def test_what_writes_to_the_disk_is_believed(error: Exception) -> None:
    assert is_disk_full(error)


@pytest.mark.parametrize("phrase", PHRASES)
@pytest.mark.parametrize(
    "kind",
    [
        ConnectionLostError,
        RefusedError,
        TapestryError,
        imaplib.IMAP4.error,
        imaplib.IMAP4.abort,
        OSError,
        smtplib.SMTPException,
        IntegrityError,
        ValueError,
    ],
)
def test_the_words_of_a_server_or_a_message_are_not(kind: type[Exception], phrase: str) -> None:
    account = Account("imap", "x.org", 993, "tls")
    assert not is_disk_full(kind(phrase))
    assert not is_disk_full(caused(connection_lost(account, phrase), kind(phrase)))
    assert not is_disk_full(smtplib.SMTPDataError(errno.ENOSPC, phrase.encode()))
