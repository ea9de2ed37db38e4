"""A person takes their data with them (right of access), or leaves (right to erasure).

The export is a file for its owner alone; the deletion goes on after its page.
"""

from __future__ import annotations

from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from filters.people.membership.export import exports
from filters.people.membership.forms import RemovalForm
from filters.people.membership.removal import removals
from filters.people.membership.removal.consequences import consequences_for, is_last_administrator
from filters.people.models import Export
from filters.people.requests import PersonRequest, form_methods
from filters.people.second_factor.views import confirmed
from filters.people.tasks import tend_accounts
from filters.site.work.queues.queue import send


@form_methods
@confirmed
def my_data(request: PersonRequest) -> HttpResponse:
    """Show the export of a person's data, or make a new one."""
    if request.method == "POST":
        exports.ask(request.user)
        send(tend_accounts, (), otherwise="The export is made within a minute")
        return redirect("my-data")
    export = exports.newest(request.user)
    context = {"export": export, "why_not": exports.why_not(export) if export else ""}
    return render(request, "people/export.html", context)


@require_safe
@confirmed
def fetch_export(request: PersonRequest, uid: str) -> HttpResponseBase:
    """Send the file of an export to its owner, and to nobody else."""
    export = get_object_or_404(Export, owner=request.user, uid=uid, error="")
    try:
        file = exports.path_of(export).open("rb")
    except FileNotFoundError:
        raise Http404("That export is not here any more.") from None
    name = f"tapestry-{request.user.get_username()}.zip"
    return FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")


@sensitive_post_parameters()
@form_methods
def delete_account(request: PersonRequest) -> HttpResponse:
    """Say what the deletion of an account means, ask who asks, and begin it."""
    user = request.user
    is_last = is_last_administrator(user)
    form = RemovalForm(request, user, request.POST if request.method == "POST" else None)
    if not is_last and form.is_valid():
        token = removals.ask(user)
        if token is not None:
            logout(request)
            send(tend_accounts, (), otherwise="The account is deleted within a minute")
            return redirect("account-deleted", token)
        is_last = True
    status = 400 if request.method == "POST" else 200
    context = {"form": form, "is_last": is_last, "consequences": consequences_for(user)}
    return render(request, "people/delete.html", context, status=status)


@login_not_required
@never_cache
@require_safe
def account_deleted(request: HttpRequest, token: str) -> HttpResponse:
    """Tell whether all of an account that was deleted is gone; the address is the permission."""
    removal = removals.removal_of(token)
    if removal is None:
        raise Http404("There is no such page.")
    context = {"removal": removal, "why_not": removals.why_not(removal)}
    return render(request, "people/deleted.html", context)
