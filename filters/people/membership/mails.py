"""Mail about accounts: what it says, and how it is sent.

It is signed as all mail of this site is: where the mailbox of a person is a source, no link to set
a password is taken in, to be read by whoever may see that mail.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse

from filters.delivery.contents.links import absolute
from filters.delivery.mail import outgoing
from filters.delivery.mail.outgoing import RecipientRefusedError


def send(email: str, subject: str, template: str, **context: Any) -> bool:
    """Send mail to an address; return False if it is to be tried again.

    An address that its server refuses for good is not tried again.
    """
    text = render_to_string(f"people/{template}.txt", {"site": settings.SITE_URL, **context})
    message = outgoing.signed_mail(email, subject, text, f"account-{uuid.uuid4().hex}")
    try:
        return outgoing.send(message, email).state != "retry"
    except RecipientRefusedError:
        return True


def send_notice(email: str, person: str, what: str) -> bool:
    """Tell a person what was changed in their account, as ``send`` does."""
    url = absolute(reverse("forgot"))
    subject = "Your account at Tapestry was changed"
    return send(email, subject, "notice", person=person, what=what, url=url)
