"""Changes of a source that a person asks for, on its page or by a program."""

from __future__ import annotations

from django.http import QueryDict

from filters.site.work.db.deleting import delete_locked
from filters.sources import writing
from filters.sources.accounts import trials
from filters.sources.both_ways.acting import go_on
from filters.sources.models import Source, Trial
from filters.sources.pull import resources
from filters.sources.schedule import make_due
from filters.sources.tasks import pull_soon
from tapestry.core.clock import wall_clock
from tapestry.ingest.nntp.wildmat import is_pattern


def question_of(source: Source, data: QueryDict) -> trials.Asked:
    """Return the trial that stores what a valid form sent."""
    question = {"source": source.pk, "kind": source.kind, "data": data.urlencode()}
    return f"source:{source.pk or 'new'}", writing.write, question


def test(source: Source) -> Trial:
    """Have the worker try the connection of a source; raise TapestryError if it cannot begin."""
    return trials.begin(source.owner, f"test:{source.pk}", writing.test, {"source": source.pk})


def list_folders(source: Source, named: list[str]) -> Trial | None:
    """Have the worker list what there is; a news server need not be asked for names alone.

    Raise TapestryError if that cannot begin.
    """
    if source.is_news and not any(map(is_pattern, named)):
        return None
    question = {"source": source.pk, "named": named}
    return trials.begin(source.owner, f"folders:{source.pk}", writing.folders, question)


def choose_folders(source: Source, named: list[str]) -> None:
    """Read these folders of a mailbox, or groups by name and pattern, from now on."""
    Source.objects.filter(pk=source.pk).update(
        folder_patterns=named, active=True, due_at=wall_clock(), failures=0, complete_until=None
    )
    pull_soon(source.pk)


def pause(source: Source) -> None:
    """Stop pulling a source; once resumed it goes on from where it stopped."""
    Source.objects.filter(pk=source.pk).update(active=False)


def resume(source: Source) -> None:
    """Pull a source again, and at once."""
    Source.objects.filter(pk=source.pk).update(active=bool(source.folder_patterns), failures=0)
    go_on(source)
    pull_now(source)


def allow_acts(mailbox: Source, *, may_act: bool, syncs_flags: bool) -> None:
    """Let the filters of its owner act in a mailbox, and flags travel there; or no more."""
    now = {"acts_due_at": 0, "acts_failures": 0, "acts_error": "", "flags_due_at": 0}
    allowed = {"may_act": may_act, "syncs_flags": syncs_flags}
    Source.objects.filter(pk=mailbox.pk).update(**allowed, **now)
    go_on(mailbox)


def remove(source: Source) -> None:
    """Delete a source; mail that came from it stays, its contacts and meetings are taken back."""
    if source.has_mail:
        delete_locked(Source.objects.filter(pk=source.pk))
    else:
        resources.remove(source)


def pull_now(source: Source) -> None:
    """Pull a source at once."""
    make_due(source.pk)
    pull_soon(source.pk)
