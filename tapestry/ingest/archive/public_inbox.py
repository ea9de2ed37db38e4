"""A public-inbox: a mailing list's archive in git, a commit for each message.

    git/0.git, git/1.git …  (version 2: a message is the file ``m`` of its commit)
    ab/cdef…                (version 1: a file for each message)
         └─ commits in their order ─> files they add ─> messages, with the last commit as cursor

The archive grows by commits, and by another repository (epoch) once the last is large.  What is
removed from it (``d``) stays here: mail is forgotten by ``manage.py forget``.

Source: public-inbox-v2-format(5), public-inbox-v1-format(5).
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

from dulwich.diff_tree import tree_changes
from dulwich.errors import FileFormatException, NotGitRepository
from dulwich.objects import Blob, Commit, ObjectID
from dulwich.refs import HEADREF
from dulwich.repo import Repo

from tapestry.core.errors import TapestryError
from tapestry.ingest.archive.directory import read_all
from tapestry.ingest.large_message import MessageBytes, RawMessage
from tapestry.ingest.stream import CursorOf, Item, MessageStream, Resumed
from tapestry.tables.write.append import Cursor

_MESSAGE = re.compile(rb"m|[0-9a-f]{2}/[0-9a-f]{38}")
"""Paths of messages in the tree of a commit, of version 2 and 1."""

_BROKEN = (KeyError, ValueError, NotGitRepository, FileFormatException, OSError, zlib.error)
"""What reading a damaged repository raises."""


def repositories(path: Path) -> list[Path]:
    """Return the git repositories of a public-inbox, in their order; none if it is none."""
    epochs = [epoch for epoch in path.glob("git/*.git") if epoch.stem.isdecimal()]
    if epochs:
        return sorted(epochs, key=lambda epoch: int(epoch.stem))
    places = (path, path / ".git")
    return [place for place in places if (place / "HEAD").is_file() and (place / "refs").is_dir()]


def open_public_inbox(
    path: Path, repos: list[Path], audience: str, cursor_of: CursorOf
) -> MessageStream:
    """Open an archive, of which each repository goes on from its cursor.

    What is wrong with one of them is raised after the others were read.
    """
    resumed = Resumed()
    readers = (_messages(repo, audience, cursor_of, resumed) for repo in repos)
    return MessageStream(path.name, read_all(readers, []), lambda: None, resumed)


def _messages(path: Path, audience: str, cursor_of: CursorOf, resumed: Resumed) -> Iterator[Item]:
    """Yield the messages of a repository's commits after its cursor.

    The cursor is the number of commits read, with a part of the last one's id.  If that is not
    found, history was written anew, and all is read: stored messages are not added again.
    """
    source = f"public-inbox:{os.fsencode(path).decode('utf-8', 'backslashreplace')}@{audience}"
    stored = cursor_of(source)
    reached = stored.version if stored else 0
    is_mail = False
    try:
        with Repo(os.fspath(path)) as repo:
            commits, is_known = _commits_after(repo, stored.content if stored else None)
            begin = reached if is_known else 0
            resumed.messages += begin
            for number, commit in enumerate(reversed(commits), start=begin + 1):
                messages = list(_added(repo, commit))
                is_mail = is_mail or bool(messages)
                yield from (Item(message, source) for message in messages[:-1])
                cursor = Cursor(source, number, _part(commit)) if number > reached else None
                yield Item(messages[-1] if messages else None, source, cursor)
    except _BROKEN as error:
        raise TapestryError(
            f"The git repository {path} is damaged: {error or type(error).__name__}.",
            hint="Fetch it again and ingest it again: nothing will be there twice.",
        ) from error
    if commits and not is_mail and not is_known:
        raise TapestryError(
            f"The git repository {path} holds no mail.", hint="Give a public-inbox of a list."
        )


def _commits_after(repo: Repo, last: int | None) -> tuple[list[ObjectID], bool]:
    """Return the commits of HEAD's first parents up to the last one read, the newest first.

    The second value tells whether that was found.
    """
    commits: list[ObjectID] = []
    at = repo.refs.follow(HEADREF)[1]
    while at is not None:
        if _part(at) == last:
            return commits, True
        commits.append(at)
        parents = _commit(repo, at).parents
        at = parents[0] if parents else None
    return commits, False


def _added(repo: Repo, at: ObjectID) -> Iterator[RawMessage]:
    """Yield the messages that a commit adds."""
    commit = _commit(repo, at)
    before = _commit(repo, commit.parents[0]).tree if commit.parents else None
    for change in tree_changes(repo.object_store, before, commit.tree):
        new = change.new
        if new is None or new.sha is None or not _MESSAGE.fullmatch(new.path or b""):
            continue
        blob = repo[new.sha]
        if isinstance(blob, Blob):
            content = MessageBytes()
            for chunk in blob.chunked:
                content.write(chunk)
            yield RawMessage(content.raw, content.size)


def _commit(repo: Repo, at: ObjectID) -> Commit:
    commit = repo[at]
    if not isinstance(commit, Commit):
        raise ValueError(f"{at.decode()} is no commit")
    return commit


def _part(commit: ObjectID) -> int:
    """Return 63 bits of a commit's id."""
    return int(commit[:16], 16) >> 1
