"""The forms of an appraiser rule: a new one, and another weight of one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max

from filters.inbox.appraisal.rules import MOST_RULES, compile_rule
from filters.inbox.appraisal.upkeep import rules_changed
from filters.inbox.models import HEAVIEST, AppraiserRule
from filters.people import people
from filters.people.models import User
from tapestry.core.errors import TapestryError

_BOUNDS = f"Choose a whole number from -{HEAVIEST} to {HEAVIEST}."


def _weight() -> forms.IntegerField:
    errors = dict.fromkeys(("required", "invalid", "min_value", "max_value"), _BOUNDS)
    return forms.IntegerField(
        label="Points", min_value=-HEAVIEST, max_value=HEAVIEST, initial=1, error_messages=errors
    )


class WeightForm(forms.Form):
    """The weight of a rule: points for a message, or against it."""

    weight = _weight()

    def clean_weight(self) -> int:
        weight: int = self.cleaned_data["weight"]
        if not weight:
            raise ValidationError("With 0 points a rule does nothing; remove it instead.")
        return weight


class RuleForm(WeightForm):
    """A new rule; the compiler decides whether its text is one."""

    text = forms.CharField(
        label="For messages",
        max_length=500,
        error_messages={"required": "Say which messages: from Jones, per vote, one week old."},
    )

    def __init__(self, data: Any, *, owner: User) -> None:
        super().__init__(data)
        self.owner = owner

    def clean_text(self) -> str:
        """Return the rule's text in its canonical form."""
        try:
            rule = compile_rule(1, self.cleaned_data["text"], people.context(self.owner))
        except TapestryError as error:
            raise ValidationError(error.sentences) from error
        return rule.text

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        self._check_others(given.get("text", ""))
        return given

    def _check_others(self, text: str) -> None:
        """Say if the owner has that rule, or as many as are allowed."""
        rules = AppraiserRule.objects.filter(owner=self.owner)
        if rules.count() >= MOST_RULES:
            self.add_error(None, f"You have {MOST_RULES} rules, the most allowed.")
        elif text and rules.filter(text=text).exists():
            self.add_error("text", "You have that rule; change its points instead.")

    @transaction.atomic
    def store(self) -> bool:
        """Add the rule; the first makes its owner one whose messages are appraised.

        If another was added since this one was found valid, so that it is not, say why and return
        False.
        """
        User.objects.select_for_update(no_key=True).get(pk=self.owner.pk)
        self._check_others(self.cleaned_data["text"])
        if self.errors:
            return False
        last = AppraiserRule.objects.filter(owner=self.owner).aggregate(last=Max("place"))["last"]
        place = 0 if last is None else last + 1
        AppraiserRule.objects.create(owner=self.owner, place=place, **self.cleaned_data)
        rules_changed(self.owner)
        return True
