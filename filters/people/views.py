"""The page of one's own account: what a person says of themselves."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from filters.people.budgets import uses
from filters.people.emails import awaits_link
from filters.people.forms import ProfileForm
from filters.people.requests import PersonRequest, form_methods, form_page


@form_methods
def profile(request: PersonRequest) -> HttpResponse:
    data = request.POST if request.method == "POST" else None
    form = ProfileForm(data, initial=ProfileForm.initial_of(request.user))
    if form.is_valid():
        form.store(request.user)
        messages.success(request, "Saved.")
        return redirect("me")
    context = {"unconfirmed": awaits_link(request.user), "uses": uses(request.user)}
    return form_page(request, "people/me.html", form, **context)
