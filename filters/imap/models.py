"""UIDs: the numbers by which mail programs know the messages of a mailbox (RFC 3501, 2.3.1.1)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from filters.authoring.models import Filter
from filters.inbox.models import Card
from filters.people.models import User
from filters.site.work.crypto.opaque_keys import keyed_digest


class ImapFolder(models.Model):
    """A mailbox: the list of a filter, or the ``shelf`` of this name; ``uid_validity`` names it.

    It is made when a mail program first asks for it.  ``next_uid`` only grows.
    """

    owner = models.ForeignKey(User, models.CASCADE, related_name="imap_folders")
    filter = models.ForeignKey(Filter, models.CASCADE, null=True, blank=True, related_name="+")
    shelf = models.CharField(max_length=20, default="", blank=True)
    uid_validity = models.BigIntegerField()
    next_uid = models.BigIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["filter"], name="imap_folder_of_filter"),
            models.UniqueConstraint(
                fields=["owner", "shelf"],
                condition=Q(filter=None),
                name="imap_folder_of_shelf",
            ),
        ]

    def __str__(self) -> str:
        return str(self.filter or self.shelf)

    @property
    def digest(self) -> str:
        """What names it to programs: its primary key numbers the mailboxes of all people."""
        return keyed_digest("imap folder", str(self.pk))


class ImapUid(models.Model):
    """The UID of a copy of a message in a mailbox, for as long as it is there.

    One that has left and comes back gets another.  ``received`` is that of the card.
    """

    folder = models.ForeignKey(ImapFolder, models.CASCADE, related_name="uids")
    uid = models.BigIntegerField()
    card = models.ForeignKey(Card, models.CASCADE, related_name="+")
    received = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["folder", "uid"], name="imap_uid_once"),
            models.UniqueConstraint(fields=["folder", "card"], name="imap_card_once"),
        ]

    def __str__(self) -> str:
        return str(self.uid)
