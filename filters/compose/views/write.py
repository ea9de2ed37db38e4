"""The editor: a new message, a reply, a forwarded message, or a draft."""

from __future__ import annotations

import json
import uuid
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from filters.authoring.views.editor import cursor_of
from filters.compose import servers
from filters.compose.drafting import contacts, drafts, parents, texts
from filters.compose.drafting.drafts import ChangedElsewhereError, NotADraftError
from filters.compose.drafting.formatting import text_as_it_looks
from filters.compose.drafting.letters import FieldError, attached_name
from filters.compose.drafting.senders import senders, usual_sender
from filters.compose.forms import DraftForm
from filters.compose.models import OutgoingMessage, Template
from filters.compose.sending import outbox
from filters.compose.tasks import send_soon
from filters.inbox.triage.snoozing import read_moment
from filters.people import people
from filters.people.known_names import begin_reading
from filters.people.requests import PersonRequest, key_of
from filters.site.templatetags.mail import message_address
from filters.site.work.parts import services
from tapestry.compose.mailto import read_mailto
from tapestry.compose.quoting import with_own_text
from tapestry.core.errors import TapestryError

State = OutgoingMessage.State


@require_http_methods(["GET", "HEAD", "POST"])
def compose(request: PersonRequest) -> HttpResponse:
    """Begin a message; with POST, save it, and send it or change its files as the button says.

    ``id`` and ``in`` name a message, ``way`` how it is answered; ``mailto`` is an address of
    RFC 6068.  GET stores nothing.
    """
    if request.method == "POST":
        return _act(request)
    draft = _begun(request)
    error = None
    if url := request.GET.get("mailto"):
        try:
            asked = read_mailto(url)
            draft.to, draft.cc = asked.to, asked.cc
            draft.subject, draft.body = asked.subject, asked.body
        except TapestryError as failure:
            error = failure
    texts.sign(draft)
    response = editor(request, draft, error=error)
    response["HX-Push-Url"] = "false"  # under a message, the page is that of the message
    return response


@require_safe
def completions(request: PersonRequest) -> HttpResponse:
    """Show whom the recipient may be that is typed at the cursor of a field."""
    text, place = cursor_of(request)
    context = {"completions": contacts.complete(request.user, text, place), "chosen": True}
    return render(request, "authoring/_completions.html", context)


@require_POST
def preview(request: PersonRequest) -> HttpResponse:
    """Show a text as it will look: the page of its window asks for that."""
    text, is_formatted = request.POST.get("body", ""), "formatted" in request.POST
    context = {"preview": text_as_it_looks(text, is_formatted=is_formatted)}
    return render(request, "compose/_preview.html", context)


@require_POST
def save(request: PersonRequest) -> HttpResponse:
    """Save a draft as it is typed: the page of its window asks for that."""
    form, version = DraftForm(request.POST), request.POST.get("version", "")
    if not form.is_valid():
        words = " ".join(str(text) for errors in form.errors.values() for text in errors)
        return render(
            request,
            "compose/_saved.html",
            {"refusal": words, "version": version},
            status=422,
        )
    if _is_empty(form) and _known(request, form).pk is None:
        return HttpResponse(status=204)
    try:
        draft = _saved(request, form)
    except (ChangedElsewhereError, NotADraftError) as error:
        notice = '<p class="banner warn" role="alert">{} Save to choose which version to keep.</p>'
        return HttpResponse(format_html(notice, error.message), status=409)
    except TapestryError as error:
        words = error.sentences
        return render(
            request,
            "compose/_saved.html",
            {"refusal": words, "version": version},
            status=422,
        )
    context = {"draft": draft, "version": draft.version}
    response = render(request, "compose/_saved.html", context)
    if _is_on_its_page(request):
        response["HX-Replace-Url"] = draft.get_absolute_url()
    return response


def _is_on_its_page(request: PersonRequest) -> bool:
    """Tell whether an editor has a page of its own, and is not under the message it answers."""
    shown = urlsplit(request.headers.get("HX-Current-URL", reverse("compose")))
    return shown.path.startswith(reverse("compose"))


def editor(
    request: PersonRequest,
    draft: OutgoingMessage,
    form: DraftForm | None = None,
    error: TapestryError | None = None,
    status: int | None = None,
    *,
    preview: SafeString | None = None,
) -> HttpResponse:
    """Show a draft in a window of its own name, or what was sent that could not be accepted.

    ``preview`` is its text as it will look.
    """
    if form is None:
        form = DraftForm(initial=DraftForm.initial_of(draft, str(uuid.uuid4())))
    owner = request.user
    begin_reading(services.tables(), people.audiences(owner))  # there when they are typed
    known = senders(owner)
    select = form.fields["sender"].widget
    select.choices = [(email, email) for email in known]
    select.attrs["data-signatures"] = json.dumps(texts.signatures(owner))
    form.offer_moments(owner)
    first = "body" if draft.parent and not draft.is_forward else "to"
    form.fields[first].widget.attrs["autofocus"] = True
    stored = OutgoingMessage.objects.filter(owner=owner, state=State.DRAFT)
    files = list(draft.attachments.defer("content")) if draft.pk else []
    context = {
        "form": form,
        "draft": draft,
        "version": form["version"].value(),
        "error": error,
        "is_changed_elsewhere": isinstance(error, ChangedElsewhereError),
        "has_sender": bool(known),
        "server": servers.kind_of(owner),
        "files": files,
        "files_size": sum(file.size for file in files),
        "most_files": drafts.MOST_FILES,
        "most_bytes": drafts.MOST_BYTES,
        "most_mib": drafts.MOST_BYTES >> 20,
        "attached": attached_name(draft) if draft.is_forward else "",
        "preview": preview,
        "templates": Template.objects.filter(owner=owner),
        "others": stored.filter(parent=draft.parent).exclude(pk=draft.pk) if draft.parent else (),
    }
    if status is None:
        status = 400 if error or form.errors else 200
    return render(request, "compose/write.html", context, status=status)


def _begun(request: PersonRequest) -> OutgoingMessage:
    owner, msgid = request.user, request.GET.get("id")
    if not msgid:
        draft = OutgoingMessage(owner=owner, sender=usual_sender(owner), changed_at=0)
    else:
        parent = parents.find_parent(owner, msgid, request.GET.get("in"))
        if parent is None:
            raise Http404("There is no such message, or you may not see it.")
        draft = parents.begin(owner, parent, request.GET.get("way", "reply"))
    draft.formatted = drafts.is_usually_formatted(owner)
    return draft


def _act(request: PersonRequest) -> HttpResponse:
    """Save what was posted, then do what the button says."""
    form = DraftForm(request.POST)
    act, _, key = request.POST.get("do", "save").partition(":")
    if not form.is_valid():
        return editor(request, _known(request, form), form)
    given = form.cleaned_data
    given["body"] = texts.sign_anew(request.user, given["body"], given["signer"], given["sender"])
    try:
        if act == "insert" and (text := texts.template(request.user, key)):
            given["body"] = with_own_text(given["body"], text)
        draft = _saved(request, form, overwrite=act == "keep")
        if act == "template":
            made = texts.template_of(draft)
            messages.success(request, f"The template “{made}” is saved.")
        if act == "remove" and (file := key_of(key)) is not None:
            drafts.remove_file(draft, str(given["editor"]), file)
        if act == "preview":
            shown = text_as_it_looks(draft.body, is_formatted=draft.formatted)
            return editor(request, draft, _refilled(request, draft), preview=shown)
        if act in ("send", "later"):
            _require_reminder(request, form)
        if act == "send":
            outbox.queue(draft)
            send_soon(draft.pk)
        if act == "later":
            outbox.queue(draft, read_moment(request.user, key, request.POST.get("chosen", "")))
    except NotADraftError:
        return redirect("outgoing", uid=given["uid"])
    except ChangedElsewhereError as error:
        return editor(request, _known(request, form), form, error, status=409)
    except FieldError as error:
        form = _refilled(request, draft)
        form.add_error(error.field or None, error.sentences)
        return editor(request, draft, form)
    except TapestryError as error:
        return editor(request, _known(request, form), form, error)
    if act == "close" and draft.parent:
        messages.success(request, "What you wrote is kept as a draft.")
        return redirect(message_address(draft.parent, draft.parent_audience))
    return redirect(draft)


def _require_reminder(request: PersonRequest, form: DraftForm) -> None:
    """Raise FieldError if the writer asks to be reminded at a time that cannot be."""
    try:
        form.remind_at(request.user)
    except TapestryError as error:
        raise FieldError("remind_by", error) from None


def _saved(request: PersonRequest, form: DraftForm, *, overwrite: bool = False) -> OutgoingMessage:
    given = form.cleaned_data
    return drafts.save_draft(
        request.user,
        given["uid"],
        str(given["editor"]),
        given["version"],
        form.kept(request.user),
        request.FILES.getlist("files"),
        overwrite=overwrite,
    )


def _refilled(request: PersonRequest, draft: OutgoingMessage) -> DraftForm:
    """Return the form as it was posted, of the version that was stored by that."""
    data = QueryDict(mutable=True)
    for name, values in request.POST.lists():
        data.setlist(name, values)
    data["version"] = str(draft.version)
    data["body"], data["signer"] = draft.body, draft.sender
    form = DraftForm(data)
    form.is_valid()
    return form


def _known(request: PersonRequest, form: DraftForm) -> OutgoingMessage:
    """Return the stored draft that a form is of, else one that is not stored."""
    uid = form.cleaned_data.get("uid")
    owned = OutgoingMessage.objects.filter(owner=request.user).defer("raw")
    rows = owned.filter(uid=uid) if uid else None
    stored = rows.first() if rows is not None else None
    return stored or OutgoingMessage(owner=request.user, uid=uid or uuid.uuid4(), changed_at=0)


def _is_empty(form: DraftForm) -> bool:
    """Tell whether nothing was typed that is worth a draft."""
    given = form.cleaned_data
    names = ("newsgroups", "to", "cc", "bcc", "subject", "body")
    return not any(given[name].strip() for name in names)
