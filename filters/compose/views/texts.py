"""Pages of templates and signatures."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from filters.compose.drafting import texts
from filters.compose.models import Template
from filters.people.requests import PersonRequest, key_of
from tapestry.core.errors import TapestryError


@require_POST
def signature(request: PersonRequest) -> HttpResponse:
    """Store the signature of an address; an empty one is deleted."""
    email, text = request.POST.get("email", ""), request.POST.get("text", "")
    try:
        texts.store_signature(request.user, email, text)
        messages.success(request, f"The signature of {email} is saved.")
    except TapestryError as error:
        messages.error(request, error.message, extra_tags="bad")
    return redirect("sending")


@require_http_methods(["GET", "HEAD", "POST"])
def templates(request: PersonRequest) -> HttpResponse:
    """Show a person's templates; with POST, store or delete one."""
    known, name, text = Template.objects.filter(owner=request.user), "", ""
    status = 200
    if request.method == "POST":
        act, _, number = request.POST.get("do", "save").partition(":")
        key = key_of(number)
        name, text = request.POST.get("name", ""), request.POST.get("text", "")
        try:
            if act == "delete":
                known.filter(pk=key or 0).delete()
                messages.success(request, "The template is deleted.")
            else:
                row = texts.store_template(request.user, name, text, key)
                messages.success(request, f"The template “{row}” is saved.")
            return redirect("templates")
        except TapestryError as error:
            messages.error(request, error.message, extra_tags="bad")
            status = 400
    context = {"templates": known, "name": name, "text": text, "most": texts.LONGEST_TEMPLATE}
    return render(request, "compose/templates.html", context, status=status)
