"""Django's way to a mail server that is in the coordinator's memory."""

from __future__ import annotations

import smtplib
from collections.abc import Sequence
from typing import Any

from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend

ask: Any = None
"""How the coordinator is asked; set as the site starts."""


class Backend(BaseEmailBackend):
    """Sends each message to each of its recipients; the server's answer is the coordinator's."""

    connection: Any = None

    def open(self) -> bool:
        if ask("smtp", {"do": "open"})["answer"] == "hang":
            raise TimeoutError("timed out")
        return True

    def close(self) -> None:
        self.connection = None

    def send_messages(self, messages: Sequence[EmailMessage]) -> int:
        for message in messages:
            self._send(message)
        return len(messages)

    def _send(self, message: EmailMessage) -> None:
        recipients = message.recipients()
        letter: Any = message.message()
        raw = letter.as_bytes(linesep="\r\n")
        answer = ask("smtp", {"do": "send", "recipients": recipients, "raw": raw})
        code, words = answer.get("code", 0), answer.get("words", "").encode()
        match answer["answer"]:
            case "refuse recipient":
                raise smtplib.SMTPRecipientsRefused(dict.fromkeys(recipients, (code, words)))
            case "refuse content":
                raise smtplib.SMTPDataError(code, words)
            case "hang":
                raise TimeoutError("timed out")
            case "cut":
                raise smtplib.SMTPServerDisconnected("Connection unexpectedly closed")
