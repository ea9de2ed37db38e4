"""By which server a person's mail is sent, and from which addresses."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from filters.compose import servers
from filters.compose.drafting.senders import confirm_another, senders
from filters.compose.drafting.texts import LONGEST_SIGNATURE, signatures
from filters.compose.forms import SmtpForm
from filters.compose.models import SmtpAccount
from filters.compose.smtp_trial import write
from filters.delivery.models import Address
from filters.people.requests import PersonRequest, errors_told, form_methods, local_path
from filters.sources.views.server_form import server_page
from tapestry.core.errors import TapestryError


@sensitive_post_parameters("secret")
@form_methods
def sending(request: PersonRequest) -> HttpResponse:
    """Describe one's own mail server; the worker tries it, and stores it if that goes well."""
    owner = request.user
    stored = SmtpAccount.objects.filter(owner=owner).first() or SmtpAccount(owner=owner)
    rows, known = Address.objects.filter(owner=owner).order_by("pk"), senders(owner)
    texts = signatures(owner)
    return server_page(
        request,
        "compose/sending.html",
        None if stored.pk else "smtp",
        lambda data, suggested: SmtpForm(data, stored=stored, suggested=suggested),
        lambda _: ("smtp", write, {"data": request.POST.urlencode()}),
        stored=stored,
        kind=servers.kind_of(owner),
        addresses=[(row, row.email in known, texts.get(row.email, "")) for row in rows],
        longest=LONGEST_SIGNATURE,
        site=settings.SITE_URL,
    )


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
