"""A filter's list as a public-inbox: an archive in git, which others clone, read and index.

Source: public-inbox-v2-format(5).
"""

from __future__ import annotations

import shutil
from datetime import datetime
from pathlib import Path

from dulwich.objects import Blob, Commit, ObjectID, ShaFile, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from tapestry.client.formats import Originals, Step
from tapestry.core.files.durable import sync_directory

BRANCH = Ref(b"refs/heads/master")
EPOCH = 1 << 30
"""Bytes of an epoch, about, after which the next one is begun (public-inbox's ``rotate_bytes``)."""

_HELD = 32 * 1024 * 1024
"""Bytes of messages that are held for one pack."""

_LOOSE = 100
"""Objects from which on they are packed (git's ``receive.unpackLimit``)."""


class PublicInbox(Originals):
    """Repositories ``git/0.git``, ``git/1.git`` …: a commit for each message, its file ``m``.

    The next one, an epoch, is begun once the last is large.
    """

    def __init__(self, place: Path) -> None:
        self._place = place / "git"
        self._objects: list[ShaFile] = []
        self._held = 0
        self._open(max(_epochs(self._place), default=0))

    def _open(self, epoch: int) -> None:
        path = self._place / f"{epoch}.git"
        if not path.exists():
            _create(path)
        self._epoch, self._repo = epoch, Repo(str(path))
        self._last: ObjectID | None = self._repo.refs.as_dict().get(BRANCH)
        files = (path / "objects").rglob("*")
        self._size = sum(file.stat().st_size for file in files if file.is_file())

    def add(self, step: Step, content: bytes) -> str:
        if self._last and self._size >= EPOCH:
            self.end()
            self._open(self._epoch + 1)
        blob, tree, commit = Blob.from_string(content), Tree(), Commit()
        tree.add(b"m", 0o100644, blob.id)
        commit.tree, commit.parents = tree.id, [self._last] if self._last else []
        commit.author = commit.committer = _sender(step)
        commit.author_time = commit.commit_time = int(_received(step).timestamp())
        commit.author_timezone = commit.commit_timezone = 0
        commit.encoding = b"UTF-8"
        commit.message = f"{step['subject']}\n".encode()
        self._objects += (blob, tree, commit)
        self._held += len(content)
        self._size += len(content)
        if self._held > _HELD:
            self._store()
        self._last = commit.id
        return f"git/{self._epoch}.git:{commit.id.decode()}"

    def end(self) -> str:
        self._store()
        if self._last:
            self._repo.refs[BRANCH] = self._last
        return f"{self._epoch} {self._last.decode() if self._last else ''}"

    def end_at(self, end: str) -> None:
        """Set the branch of an epoch back, and remove those after it: nobody refers to these."""
        epoch, _, last = end.partition(" ")
        for later in sorted(_epochs(self._place), reverse=True):
            if later > int(epoch):
                shutil.rmtree(self._place / f"{later}.git")
        self._open(int(epoch))
        self._last = ObjectID(last.encode()) if last else None
        if self._last:
            self._repo.refs[BRANCH] = self._last
        else:
            self._repo.refs.remove_if_equals(BRANCH, None)

    def _store(self) -> None:
        store = self._repo.object_store
        if len(self._objects) < _LOOSE:
            for object_ in self._objects:
                store.add_object(object_)
        else:
            store.add_objects([(object_, None) for object_ in self._objects])
        self._objects, self._held = [], 0


def _epochs(place: Path) -> list[int]:
    return [int(path.stem) for path in place.glob("*.git") if path.stem.isdecimal()]


def _create(path: Path) -> None:
    """Make a bare repository, whole or not at all."""
    draft = path.with_name("draft")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    with Repo.init_bare(draft, default_branch=b"master") as repo:
        config = repo.get_config()
        config.set((b"core",), b"fsyncObjectFiles", True)
        config.write_to_path()
    draft.replace(path)
    sync_directory(path.parent)


def _received(step: Step) -> datetime:
    return datetime.fromisoformat(step["received"])


def _sender(step: Step) -> bytes:
    """Return who wrote a message, as git has it: a name, and an address in angle brackets."""
    name, address = (
        "".join(char for char in step[part] if char.isprintable() and char not in "<>")
        for part in ("sender_name", "sender")
    )
    return f"{name or address} <{address}>".encode()
