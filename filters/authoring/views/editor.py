"""Writing a filter: completed and understood as it is typed, corrected, previewed, created."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from filters.authoring.compilation.misreading import misreading
from filters.authoring.compilation.understanding import Understood
from filters.authoring.compilation.understanding import understand as understand_filter
from filters.authoring.forms import ACTS_DETAILS, MODES, FilterForm
from filters.authoring.models import Filter
from filters.authoring.results import previews
from filters.authoring.results.cost import cost_words, expected_seconds
from filters.authoring.results.previews import PREVIEWS
from filters.authoring.tasks import start_preview
from filters.authoring.usage import usage_of
from filters.authoring.views.waiting import PATIENCE, TOO_LONG, turn_of
from filters.authoring.views.written import Written, mode_in
from filters.authoring.vocabulary import vocabulary
from filters.people import people
from filters.people.known_names import begin_reading
from filters.people.requests import PersonRequest
from filters.site.work.parts import services
from filters.site.work.queues.queue import UNPROVEN_WINDOWS, run_soon
from tapestry.core.errors import TapestryError
from tapestry.query.context import Context
from tapestry.query.parts import join, parts_of
from tapestry.query.phrases.help.completion import complete, is_whole
from tapestry.query.phrases.help.phrasebook import phrasebook
from tapestry.query.readings import other_readings

EXAMPLES = (
    "replies by Jones",
    "from @example.org about release",
    "replied to by me",
    "two weeks old with no reply",
    "among the top 10 by votes this week",
)


@require_http_methods(["GET", "HEAD", "POST"])
def write(request: PersonRequest, name: str | None = None) -> HttpResponse:
    """Write a filter and create it, or change the one of this name.

    The button of a correction puts the corrected text into the form, and does nothing else; so do
    those that remove a part of the text, or change one (``rejoin``), and Enter in a changed part.
    Text, mode and acts may be given in the address: what was written before its results were
    looked at.
    Before another text is stored, ask what becomes of that which the old one has found.
    """
    filters = Filter.objects.filter(owner=request.user)
    changed = None if name is None else get_object_or_404(filters, name=name)
    data = request.POST.copy() if request.method == "POST" else None
    corrected = data.get("corrected") if data else None
    if data and ("rejoin" in data or (corrected is None and _has_changed_part(data))):
        corrected = join(data.get("notation", ""), data.getlist("piece"))
    if data and corrected is not None:
        data["text"] = corrected
    written: dict[str, Any] = {
        k: request.GET[k] for k in ("text", "mode", *ACTS_DETAILS) if request.GET.get(k)
    }
    if request.GET.get("acts"):
        written["acts"] = request.GET.getlist("acts")
    form = FilterForm(data, owner=request.user, changed=changed, written=written)
    if corrected is not None or not form.is_valid():
        return _page(request, form)
    delivered = form.delivered_before()
    read = _read(_context_of(request, form), form.cleaned_data["text"]) if delivered else None
    if isinstance(read, Understood):
        return _page(request, form, delivered)
    try:
        stored = form.store()
    except TapestryError as error:
        form.add_error("text", error.message)
        return _page(request, form)
    run_soon(UNPROVEN_WINDOWS)
    done = "is changed." if changed else "is created; what it finds appears here."
    found = previews.preview_of_text(stored.text, request.user, stored.mode)
    seconds = stored.seconds or expected_seconds(request.user, stored.mode, stored.text)
    cost = found["cost"] if found else cost_words(request.user, stored.mode, (), seconds)
    messages.success(request, f"{stored.display_name} {done} {cost}".rstrip())
    return redirect(stored)


@require_safe
def completions(request: PersonRequest) -> HttpResponse:
    """Show completions at the cursor of a text; the first is chosen inside a word.

    After a complete phrase, with no word begun, they are shown only on request (``all``).
    """
    text, place = cursor_of(request)
    before = text[:place]
    offered = complete(text, place, vocabulary(request.user, before))
    in_word = bool(offered) and offered[0].start < len(before)
    if offered and not in_word and "all" not in request.GET and is_whole(before):
        offered = ()
    context = {"completions": offered, "chosen": in_word}
    return render(request, "authoring/_completions.html", context)


@require_POST
def understand(request: PersonRequest) -> HttpResponse:
    """Show how a text is understood, or where it is not; in the midst of ``typing`` no error."""
    text = _text(request.POST.get("text", ""))
    if not text.strip():
        return HttpResponse("")
    reading = _sent_context(request)
    result = _read(reading, text, live=_live(request))
    if isinstance(result, TapestryError) and "typing" in request.POST:
        return HttpResponse(status=204)
    context = _shown(request, reading, text, result)
    return render(request, "authoring/_understood.html", context)


@require_POST
def preview(request: PersonRequest) -> HttpResponse:
    """Have the worker compute what a filter would have matched so far."""
    text = _text(request.POST.get("text", ""))
    reading = _sent_context(request)
    if isinstance(_read(reading, text, live=_live(request)), TapestryError):
        return HttpResponse("")
    task = start_preview(text, request.user.pk, mode_in(request.POST))
    context = {"task": task, "turn": 1, "name": request.POST.get("filter", "")}
    return render(request, "authoring/_preview.html", context)


@require_safe
def preview_result(request: PersonRequest, task: UUID) -> HttpResponse:
    """Show the result of a preview, or ask again a little later; ``filter`` is being changed.

    A preview that nothing computes any more begins again: another one had displaced it.
    """
    name = request.GET.get("filter", "")
    turn = turn_of(request)
    is_under_way = PREVIEWS.is_under_way(request.user.pk)  # asked first: the task may end meanwhile
    answer = previews.preview_result(str(task), request.user)
    if answer is None and turn >= PATIENCE:
        answer = {"error": TOO_LONG}
    elif answer is None and not is_under_way:
        return render(request, "authoring/_preview.html")
    context: dict[str, object] = {"task": task, "turn": turn + 1, "answer": answer, "name": name}
    if answer is not None and "error" not in answer:
        context["written"] = Written(answer["text"], answer["mode"], name)
    return render(request, "authoring/_preview.html", context)


@require_safe
def preview_of_filter(request: PersonRequest, name: str) -> HttpResponse:
    """Show what the preview of a filter found, for the list that waits for its first run."""
    filter_ = get_object_or_404(Filter, owner=request.user, name=name)
    answer = previews.preview_of_text(filter_.text, request.user, filter_.mode)
    return render(request, "authoring/_preview_found.html", {"answer": answer})


def _page(request: PersonRequest, form: FilterForm, delivered: int = 0) -> HttpResponse:
    begin_reading(services.tables(), people.audiences(request.user))  # there when they are typed
    text = _text(str(form["text"].value() or ""))
    live = form["mode"].value() == Filter.Mode.LIVE
    reading = _context_of(request, form)
    context = {
        "form": form,
        "changed": form.changed,
        "usage": usage_of(form.changed) if form.changed else None,
        "delivered": delivered,
        "modes": [(radio, MODES[radio.data["value"]]) for radio in form["mode"]],
        "examples": EXAMPLES,
        "phrasebook": phrasebook(),
        **(_shown(request, reading, text, _read(reading, text, live=live)) if text.strip() else {}),
    }
    status = 400 if form.errors else 200
    return render(request, "authoring/write.html", context, status=status)


def _live(request: PersonRequest) -> bool:
    return request.POST.get("mode") == Filter.Mode.LIVE


def cursor_of(request: PersonRequest) -> tuple[str, int]:
    """Return the text of a field that is completed, and how many characters are before its cursor.

    That is the end of a text without such a place.
    """
    text, at = request.GET.get("text", ""), request.GET.get("at", "")
    return text, int(at) if re.fullmatch("[0-9]{1,6}", at) else len(text)


def _text(sent: str) -> str:
    """Return a text as its field holds it: forms are sent with other ends of lines."""
    return sent.replace("\r\n", "\n")


def _has_changed_part(data: QueryDict) -> bool:
    """Tell whether a part of the text was changed in its field, and sent by Enter or by Save.

    Without JavaScript, Enter there presses the first button of the form: that which saves.
    """
    shown, sent = data.getlist("was"), data.getlist("piece")
    return bool(shown) and len(shown) == len(sent) and shown != sent


def _context(request: PersonRequest, *names: str) -> Context:
    """Return the context in which a text is read: as it will be when it is saved.

    The first of the names that is given is the filter's: one that names itself is refused.
    """
    return people.context(request.user, next(filter(None, map(str.strip, names)), None))


def _context_of(request: PersonRequest, form: FilterForm) -> Context:
    return _context(request, form["name"].value() or "", form.changed.name if form.changed else "")


def _sent_context(request: PersonRequest) -> Context:
    return _context(request, request.POST.get("name", ""), request.POST.get("filter", ""))


def _read(reading: Context, text: str, *, live: bool = False) -> Understood | TapestryError:
    """Return how a text is understood, or why it is not."""
    try:
        return understand_filter(text, reading, live=live)
    except TapestryError as error:
        return error


def _shown(
    request: PersonRequest, reading: Context, text: str, result: Understood | TapestryError
) -> dict[str, object]:
    if isinstance(result, Understood):
        parts = parts_of(text, reading)
        pieces = [(part, parts.without(at)) for at, part in enumerate(parts.texts)] if parts else []
        return {
            "understood": result,
            "others": other_readings(text, result.phrase, reading),
            "notation": parts and parts.notation,
            "pieces": pieces,
            "written": len(text),
        }
    names = vocabulary(request.user, text)
    return {"misreading": misreading(text, result, reading, names)}
