"""The mailbox of bounces on a real server: read on from where it stopped, and left as it is."""

from __future__ import annotations

import uuid

import pytest

from filters.delivery import tasks
from filters.delivery.mail import bounces, outgoing
from filters.delivery.models import Address, BounceMailbox, Destination
from filters.people.models import User
from tests.support.paths import TESTS

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

FIXTURES = TESTS / "fixtures" / "deliver" / "bounces"


@pytest.fixture
def joe(settings, data_dir, dovecot):
    """A digest to the address that the fixtures are about, and an empty mailbox of bounces."""
    folder = f"bounces-{uuid.uuid4().hex}"
    dovecot.put(folder)
    settings.DATA, settings.BOUNCES = data_dir, dovecot.url(folder)
    settings.RETURN_PATH = "tapestry+*@tapestry.example"
    owner = User.objects.create_user("alice")
    address = Address.objects.create(owner=owner, email="joe@x.example", confirmed_at=1)
    destination = Destination.objects.create(owner=owner, kind="digest", name="d", address=address)
    destination.folder = folder
    return destination


def bounce(name, joe):
    path = outgoing.return_path(joe.address, name).encode()
    return (FIXTURES / f"{name}.eml").read_bytes().replace(b"tapestry@tapestry.example", path)


def warning(joe):
    joe.address.refresh_from_db()
    return joe.address.warning


def test_new_bounces_are_read_once_and_stay(joe, dovecot):
    dovecot.put(joe.folder, bounce("gmail", joe))
    assert bounces.read_mailbox() == 0, "what was there at the first look is passed"
    dovecot.put(joe.folder, bounce("postfix-delayed", joe), bounce("vacation", joe))
    assert bounces.read_mailbox() == 0
    assert warning(joe) == ""
    dovecot.put(joe.folder, bounce("postfix", joe))
    tasks.read_bounces()
    assert "5.1.1" in warning(joe)
    Address.objects.update(warning="")
    assert bounces.read_mailbox() == 0
    assert warning(joe) == ""
    with dovecot.session() as client:
        client.select_folder(joe.folder, readonly=True)
        flags = client.get_flags(client.search())
        assert [set(each) - {b"\\Recent"} for each in flags.values()] == [set()] * 4


def test_a_folder_that_is_numbered_anew_begins_at_its_end(joe, dovecot):
    assert bounces.read_mailbox() == 0
    with dovecot.session() as client:
        client.delete_folder(joe.folder)
        client.create_folder(joe.folder)
    dovecot.put(joe.folder, bounce("postfix", joe))
    assert bounces.read_mailbox() == 0
    dovecot.put(joe.folder, bounce("gmail", joe), bounce("exim", joe))
    assert bounces.read_mailbox() == 2
    assert BounceMailbox.objects.get().uid == 3


def test_a_process_that_ends_amid_them_goes_on_after_the_last(joe, dovecot, monkeypatch):
    bounces.read_mailbox()
    dovecot.put(joe.folder, *(bounce(name, joe) for name in ("postfix", "gmail", "exim")))
    taken, take = [], bounces.take

    def end(raw):
        taken.append(raw)
        if len(taken) == 2:
            raise KeyboardInterrupt
        return take(raw)

    monkeypatch.setattr(bounces, "take", end)
    with pytest.raises(KeyboardInterrupt):
        bounces.read_mailbox()
    assert bounces.read_mailbox() == 2
    assert taken[1] == taken[2]


def test_an_error_is_kept_for_the_administrator(joe, dovecot, settings):
    settings.BOUNCES = dovecot.url(joe.folder, password="wrong")
    assert bounces.read_mailbox() == 0
    state = BounceMailbox.objects.get()
    assert "refused the user name or password" in state.error
    assert "wrong" not in state.address + state.error
    for url, words in (("nntp://x.org/a.b", "is not the URL"), ("nonsense", "")):
        settings.BOUNCES = url
        assert bounces.read_mailbox() == 0
        error = BounceMailbox.objects.get().error
        assert error
        assert words in error
    settings.BOUNCES = dovecot.url(joe.folder)
    bounces.read_mailbox()
    assert BounceMailbox.objects.get().error == ""
