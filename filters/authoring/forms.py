"""The form of a filter and its options."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.forms.boundfield import BoundWidget
from django.forms.models import model_to_dict
from django.utils import timezone

from filters.authoring.acts import Acts, acts_named
from filters.authoring.lifecycle import NAME_TAKEN, change, install
from filters.authoring.models import (
    ACTS,
    ACTS_A_DAY,
    LONGEST_TAG,
    LONGEST_TITLE,
    MAILBOX_ACTS,
    MOST_ACTS_A_DAY,
    Filter,
    filter_name,
    filter_title,
)
from filters.delivery.models import Destination
from filters.people.forms import LAST_YEAR
from filters.people.models import User
from filters.people.timeliness_field import TimelinessField
from filters.runs.store.expiry import last_instant
from filters.runs.store.subscriptions import choose_destinations
from tapestry.core.clock import to_datetime
from tapestry.deliver.timing.timeliness import AFTER

MODES = {
    Filter.Mode.KEEP: "A message that matched once stays in the list.",
    Filter.Mode.WAIT: "While a source of mail that you see is behind, no time passes for this "
    "filter: it does not say that nobody has answered while a server is away.",
    Filter.Mode.LIVE: "A live filter: a message leaves the list when it no longer matches "
    "(somebody has answered it, say), and comes back if it matches again.",
}
"""What each mode does, in a sentence."""

NOT_ALLOWED = (
    "None of your mailboxes lets filters act in it yet. Allow it first, on the page of the mailbox "
    "under Sources."
)

ACTS_DETAILS = ("acts_label", "acts_keyword", "acts_folder")
"""Fields that say with what a filter tags, and to where it moves."""

OPTIONS = ("name", "title", "timeliness", "while_unread", "visibility", "mode")


def acts_of(given: Mapping[str, Any]) -> Acts:
    """Return what a valid form says of what the filter does."""
    return Acts(
        acts_named(given["acts"]),
        given["acts_a_day"] or ACTS_A_DAY,
        given["acts_existing"],
        given["acts_label"] if "label" in given["acts"] else "",
        given["acts_keyword"] if "tag" in given["acts"] else "",
        given["acts_folder"] if "move" in given["acts"] else "",
    )


class FilterForm(forms.Form):
    """A filter's text and options; the compiler decides whether the text is a filter."""

    text = forms.CharField(
        label="Filter",
        max_length=65536,
        strip=True,
        error_messages={"required": "Describe the messages you want: replies by Jones."},
    )
    title = forms.CharField(
        label="Name",
        max_length=LONGEST_TITLE,
        required=False,
        strip=True,
        error_messages={
            "max_length": "A name has at most %(limit_value)d characters; this one has "
            "%(show_value)d."
        },
    )
    name = forms.CharField(
        label="Short name", max_length=60, required=False, strip=True, validators=[filter_name]
    )
    mail = forms.ChoiceField(
        label="Which mail",
        choices=[("existing", "with existing mail"), ("new", "from now on")],
        initial="existing",
        widget=forms.RadioSelect,
    )
    mode = forms.ChoiceField(
        label="When a message stops matching",
        choices=Filter.Mode.choices,
        initial=Filter.Mode.KEEP,
        required=False,
        widget=forms.RadioSelect,
    )
    until = forms.DateField(
        label="Until",
        required=False,
        error_messages={"invalid": "Write the day as 2027-01-31, or leave it empty."},
    )
    found = forms.ChoiceField(choices=[("keep", "keep"), ("forget", "forget")], required=False)
    timeliness = TimelinessField(
        is_of_filter=True, label="Show and send new matches", required=False
    )
    while_unread = forms.BooleanField(label="Not while it has unread messages", required=False)
    acts = forms.MultipleChoiceField(
        label="Do with what it finds",
        choices=[(name, words[0].upper() + words[1:]) for name, words in ACTS.items()],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"invalid_choice": "A filter cannot do “%(value)s” with a message."},
    )
    acts_a_day = forms.IntegerField(
        label="Messages a day, at most",
        required=False,
        min_value=1,
        max_value=MOST_ACTS_A_DAY,
        initial=ACTS_A_DAY,
    )
    acts_existing = forms.BooleanField(
        label="Also with what it has found, or finds in existing mail", required=False
    )
    acts_label = forms.CharField(
        label="Tag",
        max_length=LONGEST_TAG,
        required=False,
        strip=True,
        validators=[
            RegexValidator(r"\A[^\x00-\x1f\x7f\u2028\u2029]+\Z", "Write the tag in one line.")
        ],
    )
    acts_keyword = forms.CharField(
        label="Tag in the mailbox",
        max_length=64,
        required=False,
        validators=[
            RegexValidator(
                r"\A[A-Za-z0-9$][A-Za-z0-9_.$-]*\Z",
                "Write a tag as one word of letters and digits: todo.",
            )
        ],
    )
    acts_folder = forms.CharField(
        label="Folder of the mailbox",
        max_length=200,
        required=False,
        validators=[
            RegexValidator(
                r"\A[^*%\x00-\x1f\x7f]+\Z", "Write the name of a folder: Lists/Tapestry."
            )
        ],
    )
    visibility = forms.ChoiceField(
        label="Who may see the filter",
        choices=Filter.Visibility.choices,
        initial=Filter.Visibility.PRIVATE,
        widget=forms.RadioSelect,
    )
    destinations = forms.ModelMultipleChoiceField(
        Destination.objects.none(),
        label="Send to",
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    shown_mail = forms.CharField(required=False, widget=forms.HiddenInput)
    """What ``mail`` was when the page was made; a script leaves it out."""
    shown_destinations = forms.CharField(required=False, widget=forms.HiddenInput)
    """The primary keys of those that were ticked then."""

    def __init__(
        self,
        data: Any,
        *,
        owner: User,
        changed: Filter | None = None,
        written: Mapping[str, Any] | None = None,
    ) -> None:
        """Show a new filter, or the one to be changed; ``written`` has what stands in its place."""
        initial: dict[str, Any] = {}
        end = changed.end if changed else None
        self.last_day = None if end is None else to_datetime(end).astimezone(owner.zone).date()
        if changed:
            mail = "existing" if changed.start is None else "new"
            initial = model_to_dict(changed, ["text", *OPTIONS])
            initial |= model_to_dict(changed, ["acts_a_day", *ACTS_DETAILS])
            initial["acts"] = changed.acts.split()
            initial |= {"mail": mail, "shown_mail": mail, "until": self.last_day}
            chosen = changed.subscriptions.filter(destination__all_filters=False)
            subscribed = chosen.values_list("destination", flat=True)
            initial["destinations"] = list(subscribed)
            initial["shown_destinations"] = " ".join(map(str, subscribed))
        super().__init__(data, initial=initial | dict(written or {}))
        self.owner, self.changed = owner, changed
        offered: Any = self.fields["destinations"]
        offered.queryset = owner.destinations.filter(all_filters=False)
        self.of_all_filters = owner.destinations.filter(all_filters=True)
        self.fields["timeliness"].widget.offer_usual(owner.timeliness)

    @property
    def has_acts(self) -> bool:
        """Whether acts are chosen, or something is wrong with them: they are in sight then."""
        return bool(self["acts"].value()) or any(name.startswith("acts") for name in self.errors)

    @property
    def own_acts(self) -> list[BoundWidget]:
        """Return the boxes of what it may do here, for its owner alone."""
        return [box for box in self["acts"] if box.data["value"] not in MAILBOX_ACTS]

    @property
    def mailbox_acts(self) -> list[BoundWidget]:
        """Return the boxes of what it may do in the mailboxes of its owner, if they have any."""
        does = set(self.changed.acts.split()) & MAILBOX_ACTS.keys() if self.changed else set()
        if not does and not self.owner.sources.filter(kind="imap").exists():
            return []
        return [box for box in self["acts"] if box.data["value"] in MAILBOX_ACTS]

    def store(self) -> Filter:
        """Create the filter, or change it; another text, mail or mode starts it again.

        Mail and destinations that are left as the page showed them stay as they are by now.
        Raises TapestryError where the text is not a filter.
        """
        given, changed = self.cleaned_data, self.changed
        options: dict[str, Any] = {name: given[name] for name in OPTIONS}
        existing = given["mail"] == "existing"
        end = last_instant(given["until"], self.owner.zone) if given["until"] else None
        destinations = list(given["destinations"])
        options["acts"] = acts_of(given)
        if changed is None:
            options["destinations"] = destinations
            return install(self.owner, given["text"], existing=existing, end=end, **options)
        mail = given["shown_mail"] or ("existing" if changed.start is None else "new")
        change(
            changed,
            given["text"],
            existing=None if given["mail"] == mail else existing,
            end="as before" if given["until"] == self.last_day else end,
            forget=given["found"] == "forget",
            **options,
        )
        shown = given["shown_destinations"].split() if "shown_destinations" in self.data else None
        choose_destinations(changed, destinations, shown)
        return changed

    def delivered_before(self) -> int:
        """Return how much an older text has found, if it was not said what becomes of that.

        What a live filter holds follows its text by itself.
        """
        given, changed = self.cleaned_data, self.changed
        if changed is None or given["found"] or given["text"] == changed.text:
            return 0
        if Filter.Mode.LIVE in (changed.mode, given["mode"]):
            return 0
        return changed.matches.count()

    def clean(self) -> dict[str, Any]:
        """Refuse two delays at once, and acts that say too little, or may not be."""
        given = super().clean() or self.cleaned_data
        if given.get("while_unread") and given.get("timeliness", "").startswith(AFTER):
            self.add_error("while_unread", "Choose either working days, or this.")
        acts = set(given.get("acts", ()))
        fields = {"label": "acts_label", "tag": "acts_keyword", "move": "acts_folder"}
        for name, field in fields.items():
            if name in acts and not given.get(field) and field not in self.errors:
                self.add_error(field, "Say which one.")
        if {"move", "trash"} <= acts:
            self.add_error("acts", "Move it to a folder or to Trash, not to both.")
        if acts & MAILBOX_ACTS.keys() and not self.owner.sources.filter(may_act=True).exists():
            self.add_error("acts", NOT_ALLOWED)
        return given

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        others = self.owner.filters.exclude(pk=self.changed.pk if self.changed else 0)
        if others.filter(name=name).exists():
            raise ValidationError(NAME_TAKEN)
        return name

    def clean_title(self) -> str:
        """Refuse a name of which nothing can be seen; only a new filter may do without."""
        title: str = self.cleaned_data["title"]
        if title or (self.changed is not None and "title" in self.data):
            filter_title(title)
        return title

    def clean_until(self) -> date | None:
        """Refuse a last day that is over, unless it is the filter's present one."""
        until: date | None = self.cleaned_data["until"]
        if until is None or until == self.last_day:
            return until
        if until < timezone.localdate(timezone=self.owner.zone):
            raise ValidationError("That day has passed; choose a later one, or none.")
        if until.year > LAST_YEAR:
            raise ValidationError(f"Choose a day before {LAST_YEAR + 1}, or none.")
        return until
