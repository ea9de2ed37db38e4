"""What the forms of all destinations have: a name, and the filters whose matches go there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q

from filters.authoring.models import Filter
from filters.delivery.models import Destination
from filters.people.budgets import shortage_of
from filters.runs.store import subscriptions
from tapestry.core.clock import wall_clock
from tapestry.core.errors import TapestryError

if TYPE_CHECKING:
    _ModelChoices = forms.ModelMultipleChoiceField[Filter]
else:
    _ModelChoices = forms.ModelMultipleChoiceField

ALL, CHOSEN = "all", "chosen"


class FiltersField(_ModelChoices):
    """Filters of one person, by their names."""

    def label_from_instance(self, obj: Filter) -> str:
        return obj.display_name


class DestinationForm(forms.Form):
    """What every destination has: a name, and filters.

    ``is_tried`` means that the worker tries what was given, and stores it then.
    """

    is_tried: ClassVar[bool] = False

    name = forms.CharField(
        label="Name",
        max_length=100,
        required=False,
        help_text="Leave empty to name it after its kind and where it goes.",
    )
    which = forms.ChoiceField(
        label="Filters",
        choices=[(ALL, "all my filters, new ones too"), (CHOSEN, "only these")],
        initial=ALL,
        widget=forms.RadioSelect,
    )
    filters = FiltersField(
        Filter.objects.none(), required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, data: Any, *, destination: Destination) -> None:
        self.destination = destination
        super().__init__(data, initial=self.stored() if destination.pk else None)
        choice: Any = self.fields["filters"]
        choice.queryset = Filter.objects.filter(owner=destination.owner).order_by("name")

    def stored(self) -> dict[str, Any]:
        """Return the values that the fields of a stored destination have."""
        kept = self.destination
        chosen = kept.subscriptions.values_list("filter", flat=True)
        which = ALL if kept.all_filters else CHOSEN
        return {"name": kept.name, "which": which, "filters": list(chosen)}

    def clean(self) -> dict[str, Any]:
        given = super().clean() or self.cleaned_data
        if given.get("which") == CHOSEN and not given.get("filters"):
            self.add_error("filters", "Choose at least one filter, or all of them.")
        owner = self.destination.owner
        if not self.destination.pk and (shortage := shortage_of(owner, "destinations")):
            raise ValidationError(shortage)
        return given

    def try_connection(self) -> None:
        """Try what was given, in the worker; raise TapestryError if that fails."""

    def describe(self, destination: Destination) -> None:
        """Put what was given into the fields of the destination that only its kind has."""

    def store(self) -> Destination:
        """Store the destination, new or changed, with its filters."""
        given, destination = self.cleaned_data, self.destination
        before = {**destination.settings}, destination.secret
        self.describe(destination)
        destination.name = given["name"] or self.default_name(destination)[:100]
        filters: Collection[Filter] | None = given["filters"] if given["which"] == CHOSEN else None
        if destination.pk is None:
            subscriptions.add_destination(destination, filters)
        else:
            self._change(*before)
            subscriptions.choose_filters(destination, filters)
        return destination

    def _change(self, settings: Mapping[str, Any], secret: str) -> None:
        """Store what differs from the settings and secret as they were read.

        A trial takes long, and deliveries and other pages store the rest meanwhile.  At another
        place nothing has failed yet.  When what waits is to be sent is told anew; so if it is being
        claimed just now, though this was read before.
        """
        destination = self.destination
        given = destination.settings.items()
        changed = {name: value for name, value in given if settings.get(name, self) != value}
        fields = ["name", "address", "source", "settings"]
        fields += ["secret"] * (destination.secret != secret)
        with transaction.atomic():
            current = Destination.objects.select_for_update().filter(pk=destination.pk).first()
            if current is None:
                raise TapestryError("It was deleted meanwhile.")
            destination.settings = current.settings | changed
            destination.save(update_fields=fields)
            rows = Destination.objects.filter(pk=destination.pk)
            is_elsewhere = self.where(current) != self.where(destination)
            if is_elsewhere or self.is_tried or "secret" in fields:
                rows.filter(active=True).update(failures=0, failing_since=None, error="")
            waiting = rows.filter(Q(due_at__isnull=False) | ~Q(holder=""), failing_since=None)
            waiting.update(due_at=wall_clock())

    def default_name(self, destination: Destination) -> str:
        """Return the name of a destination that was given none."""
        return str(destination.get_kind_display()).capitalize()

    @classmethod
    def where(cls, destination: Destination) -> str:
        """Say shortly where a destination delivers to."""
        return str(destination.address or "")
