"""By which server a person's mail is sent, and from which addresses."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from filters.compose import servers
from filters.compose.drafting.senders import confirm_another, senders
from filters.compose.drafting.texts import LONGEST_SIGNATURE, signatures
from filters.compose.forms import SmtpForm
from filters.compose.models import SmtpAccount
from filters.compose.tasks import try_smtp
from filters.delivery.models import Address
from filters.people.requests import PersonRequest, errors_told, form_methods, local_path
from filters.sources.models import Trial
from filters.sources.views.finding import Finding, find_server, is_asked
from filters.sources.views.trials import tried
from tapestry.core.errors import TapestryError


@sensitive_post_parameters("secret")
@form_methods
def sending(request: PersonRequest) -> HttpResponse:
    """Describe one's own mail server; the worker tries it, and stores it if that goes well."""
    owner = request.user
    stored = SmtpAccount.objects.filter(owner=owner).first() or SmtpAccount(owner=owner)
    finding = None if stored.pk else find_server(request, "smtp")
    if isinstance(finding, HttpResponse):
        return finding
    data = request.POST if request.method == "POST" and not is_asked(request) else None
    suggestion = finding.suggestion if finding else None
    form = SmtpForm(data, stored=stored, suggested=suggestion.initial if suggestion else {})
    if not form.is_valid():
        return _page(request, form, finding=finding)
    question = {"data": request.POST.urlencode()}
    following, trial = tried(request, form, "smtp", question, try_smtp)
    return following or _page(request, form, trial, finding)


@require_POST
def remove(request: PersonRequest) -> HttpResponse:
    """Forget a person's own mail server, its password too."""
    if SmtpAccount.objects.filter(owner=request.user).delete()[0]:
        messages.success(request, "Your mail server is removed, and its password is forgotten.")
    return redirect(local_path(request.POST.get("next", ""), "sending"))


@require_POST
def confirm_sender(request: PersonRequest) -> HttpResponse:
    """Send the link that confirms an address to write from."""
    email = request.POST.get("email", "").strip()
    with errors_told(request):
        try:
            confirm_another(request.user, email)
        except ValidationError as error:
            raise TapestryError(" ".join(error.messages)) from error
        messages.success(
            request, f"A link is on its way to {email}. Open it while you are signed in."
        )
    return redirect("sending")


def _page(
    request: PersonRequest,
    form: SmtpForm,
    trial: Trial | None = None,
    finding: Finding | None = None,
) -> HttpResponse:
    rows, known = Address.objects.filter(owner=request.user).order_by("pk"), senders(request.user)
    texts = signatures(request.user)
    context = {
        "form": form,
        "stored": form.stored,
        "trial": trial,
        "finding": finding,
        "kind": servers.kind_of(request.user),
        "addresses": [(row, row.email in known, texts.get(row.email, "")) for row in rows],
        "longest": LONGEST_SIGNATURE,
        "site": settings.SITE_URL,
    }
    status = 400 if form.errors or (finding and finding.form.errors) else 200
    return render(request, "compose/sending.html", context, status=status)
