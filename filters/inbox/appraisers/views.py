"""The rules of importance: added, weighed, moved and removed, with what comes of them today."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from filters.inbox.appraisal.order import is_ready
from filters.inbox.appraisal.rules import compile_rule, rules_of
from filters.inbox.appraisal.upkeep import why_not
from filters.inbox.appraisers import changes
from filters.inbox.appraisers.forms import RuleForm, WeightForm
from filters.inbox.appraisers.preview import todays_first
from filters.inbox.models import HEAVIEST, AppraiserRule
from filters.people import people
from filters.people.requests import PersonRequest
from filters.site.work.queues.queue import APPRAISE, run_soon
from tapestry.core.errors import TapestryError

EXAMPLES = (
    *((5, "from Jones"), (3, "about release"), (1, "per vote")),
    *((1, "per reply"), (2, "unread"), (-3, "older than one week")),
)


@require_http_methods(["GET", "HEAD", "POST"])
def rules(request: PersonRequest) -> HttpResponse:
    """Show the rules and what comes of them, or add one."""
    form = RuleForm(request.POST if request.method == "POST" else None, owner=request.user)
    if form.is_bound and form.is_valid() and form.store():
        run_soon(APPRAISE)
        return redirect("appraiser-rules")
    return _page(request, form)


@require_POST
def weigh(request: PersonRequest, pk: int) -> HttpResponse:
    """Give a rule another weight."""
    rule = _rule_of(request, pk)
    form = WeightForm(request.POST)
    if not form.is_valid():
        return _page(request, RuleForm(None, owner=request.user), rule.pk, form)
    changes.weigh(rule, form.cleaned_data["weight"])
    return redirect("appraiser-rules")


@require_POST
def move(request: PersonRequest, pk: int) -> HttpResponse:
    """Move a rule up by one place; the first becomes the last."""
    changes.move_up(_rule_of(request, pk))
    return redirect("appraiser-rules")


@require_POST
def remove(request: PersonRequest, pk: int) -> HttpResponse:
    """Remove a rule."""
    rule = _rule_of(request, pk)
    changes.remove(rule)
    messages.success(request, f"The rule “{rule.text}” is removed.")
    return redirect("appraiser-rules")


def _page(
    request: PersonRequest,
    form: RuleForm,
    weighed: int | None = None,
    weight_form: WeightForm | None = None,
) -> HttpResponse:
    stored = list(AppraiserRule.objects.filter(owner=request.user))
    compiled = rules_of(request.user)
    failed = weight_form is not None or bool(form.errors)
    context = {
        "form": form,
        "rules": [(rule, _fault(rule)) for rule in stored],
        "weighed": weighed,
        "weight_form": weight_form,
        "examples": EXAMPLES,
        "heaviest": HEAVIEST,
        "lines": todays_first(request.user, compiled) if stored else [],
        "is_ready": not stored or is_ready(request.user),
        "why_not": why_not(request.user),
    }
    return render(request, "inbox/appraisers/rules.html", context, status=400 if failed else 200)


def _fault(rule: AppraiserRule) -> str:
    """Return why a rule that was one counts for nothing now, "" if it counts."""
    try:
        compile_rule(rule.weight, rule.text, people.context(rule.owner))
    except TapestryError as error:
        return f"{error.message} The rule is ignored until you correct it."
    return ""


def _rule_of(request: PersonRequest, pk: int) -> AppraiserRule:
    return get_object_or_404(AppraiserRule, owner=request.user, pk=pk)
