"""The administration pages: what an administrator may look at and mend."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from filters import models
from filters.accounts.emails import trust
from filters.accounts.forms import LAST_YEAR, ProfileForm
from filters.accounts.retired_names import check_available, keep_names
from filters.accounts.sessions.record import sign_out
from filters.accounts.signing_in.forms import AdminSignInForm
from filters.annotations.outbox import append_all_of
from filters.authoring.dependents import recompile_all_of, recompile_dependents
from filters.authoring.lifecycle import full_name, resume
from filters.delivery.mail import bounces
from filters.delivery.ways import push
from filters.membership.notices import known_address, tell
from filters.models import Filter
from filters.runtime import services
from filters.runtime.batching import batched
from filters.store import shared_window, subscriptions
from filters.store.schedule import replan

if TYPE_CHECKING:
    # The stubs know which model a page is about; Django itself takes no parameter.
    Pages = admin.ModelAdmin[Any]
    NewAccount = AdminUserCreationForm[User]
    NewPassword = AdminPasswordChangeForm[User]
    NewGroup = forms.ModelForm[Group]
    NewProfile = forms.ModelForm[models.Profile]
    AccountPages = UserAdmin[User]
    Lines = admin.TabularInline[Any, Any]
else:
    Pages, AccountPages, Lines = admin.ModelAdmin, UserAdmin, admin.TabularInline
    NewAccount, NewGroup = AdminUserCreationForm, forms.ModelForm
    NewPassword, NewProfile = AdminPasswordChangeForm, forms.ModelForm


WATERMARK = ("since", "enrolled", "ran_at")
"""Fields that say how far a filter was run; only runs change them."""


class WrittenByRuns(Pages):
    """What pages, runs and deliveries write: an administrator may look at it, and delete it."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class OnlyShown(WrittenByRuns):
    """What says how far all has come: without it, or with another, mail is lost or comes twice."""

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Filter)
class FilterAdmin(Pages):
    """Filters of everybody: what others may refer to is for their owners to change."""

    list_display = [
        "name",
        "title",
        "owner",
        "phrase",
        "mode",
        "timeliness",
        "active",
        "visibility",
    ]
    list_display += ["error"]
    list_filter = ["active", "mode", "visibility", "owner"]
    search_fields = ["name", "title", "text"]
    readonly_fields = ["owner", "name", "title", "visibility", "text", "phrase", "tql"]
    readonly_fields += ["display_tql", "mode", "start", "end", *WATERMARK, "revision", "error"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: filters are written on their own page, which compiles them."""
        return False

    def get_object(self, *args: Any, **kwargs: Any) -> Filter | None:
        filter_: Filter | None = super().get_object(*args, **kwargs)
        shared_window.show_position([filter_] if filter_ else [])
        return filter_

    def save_model(self, request: HttpRequest, obj: Filter, form: Any, change: bool) -> None:
        """Detach the filter from the shared window, then store what the page can change.

        What waits in it is planned anew: its timeliness may be another.  One that is active again
        is compiled again, as its owner's button does it.
        """
        row = Filter.objects.filter(pk=obj.pk)
        shared_window.detach(row)
        row.update(**{name: getattr(obj, name) for name in form.changed_data})
        replan(row)
        if obj.active and "active" in form.changed_data:
            transaction.on_commit(lambda: resume(obj))

    def delete_model(self, request: HttpRequest, obj: Filter) -> None:
        self.delete_queryset(request, Filter.objects.filter(pk=obj.pk))

    @transaction.atomic
    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Filter]) -> None:
        shared_window.detach(queryset)
        locked = queryset.select_related("owner").select_for_update(of=("self",)).order_by("pk")
        names = [full_name(filter_) for filter_ in locked]  # what a run is storing is there by then
        super().delete_queryset(request, queryset)
        for batch in batched(names):
            recompile_dependents(batch, None)


@admin.register(models.Match)
class MatchAdmin(WrittenByRuns):
    list_display = ["msgid", "filter", "audience", "read_at", "retracted_at"]


@admin.register(models.OutboxAnnotation)
class OutboxAnnotationAdmin(WrittenByRuns):
    list_display = ["kind", "value", "number", "owner", "msgid", "appended_at"]


@admin.register(models.Address)
class AddressAdmin(Pages):
    """Addresses; only the link that was sent to one confirms it."""

    list_display = ["email", "owner", "confirmed_at", "proven", "problem"]
    search_fields = ["email"]
    readonly_fields = ["owner", "email", "asked_at", "confirmed_at", "confirmed_here", "proven"]
    readonly_fields += ["warning"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def save_model(
        self, request: HttpRequest, obj: models.Address, form: Any, change: bool
    ) -> None:
        """Store what the page can change: it may be confirmed meanwhile.

        Without a problem, what came back is counted anew.
        """
        anew = {} if obj.problem else {"warning": "", "bounced": []}
        models.Address.objects.filter(pk=obj.pk).update(problem=obj.problem, **anew)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show, above the list, the address that bounces are posted to."""
        title = f"A mail server may post bounces to {bounces.post_url()}"
        return super().changelist_view(request, {"subtitle": title} | (extra_context or {}))


class SubscriptionLines(Lines):
    """The filters of a destination, on its page."""

    model = models.Subscription
    fields = ["filter", "since"]
    readonly_fields = ["filter", "since"]
    extra = 0

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(models.Destination)
class DestinationAdmin(Pages):
    """Destinations; their secrets are shown to nobody, and deliveries alone move their cursors."""

    list_display = ["name", "kind", "owner", "active", "failing_since", "error"]
    list_filter = ["kind", "active"]
    readonly_fields = ["owner", "kind", "address", "all_filters", "all_since", "cursor", "latest"]
    readonly_fields += ["claimed_until", "holder", "due_at", "failures", "failing_since", "error"]
    fields = ["name", "active", *readonly_fields]
    inlines = [SubscriptionLines]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: destinations are added on their own pages, at the position reached by then."""
        return False

    def save_model(
        self, request: HttpRequest, obj: models.Destination, form: Any, change: bool
    ) -> None:
        """Store what the page can change: deliveries change the rest meanwhile."""
        models.Destination.objects.filter(pk=obj.pk).update(name=obj.name, active=obj.active)
        if obj.active and "active" in form.changed_data:
            subscriptions.turn_on(obj)


@admin.register(models.Delivery)
class DeliveryAdmin(WrittenByRuns):
    list_display = ["destination", "at", "state", "matches", "answer"]
    list_filter = ["state"]


@admin.register(models.KeptMail)
class KeptMailAdmin(WrittenByRuns):
    """Mail that was written to people: who and when; its content is theirs alone."""

    list_display = ["recipient", "owner", "at"]
    fields = ["owner", "recipient", "message_id", "at"]


@admin.register(models.Feed)
class FeedAdmin(WrittenByRuns):
    """Feeds; their secret addresses are shown to nobody."""

    list_display = ["owner", "filter"]
    fields = ["owner", "filter", "uid"]


class NewAccountForm(NewAccount):
    """A new account: its name is not that of another, whose mail is still here."""

    def clean_username(self) -> str:
        name: str = super().clean_username()
        check_available(User, name)
        return name


class NewGroupForm(NewGroup):
    """A new group: its name is not that of another, whose mail is still here."""

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        check_available(Group, name)
        return name


class NewPasswordForm(NewPassword):
    """Another password of an account: its person is told, and signed out everywhere."""

    def save(self, commit: bool = True) -> User:
        """Store the password alone, or that there is none: the rest may be changed meanwhile."""
        user = super().save(commit=False)
        if commit:
            user.save(update_fields=["password"])
        sign_out(user)
        push.forget_others(user, "")
        what = "changed" if user.has_usable_password() else "turned off"
        transaction.on_commit(lambda: tell(user, f"An administrator {what} your password."))
        return user


class AccountAdmin(AccountPages):
    """Accounts; their names stay, for mail goes by the name.  People are told what is changed."""

    add_form = NewAccountForm
    change_password_form = NewPasswordForm

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("username",) if obj else ()

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Store an account; another address of it is trusted, and told to the one before."""
        former = known_address(User.objects.get(pk=obj.pk)) if change else ""
        super().save_model(request, obj, form, change)
        if change and "email" in form.changed_data:
            trust(obj)
            what = "An administrator changed the e-mail address of your account."
            transaction.on_commit(lambda: tell(obj, what, former))

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Delete an account; what its person has said is appended before the transaction begins."""
        user = self.get_object(request, unquote(object_id))
        if user and request.method == "POST" and self.has_delete_permission(request, user):
            append_all_of(services.tables(), User.objects.filter(pk=user.pk))
        return super().delete_view(request, object_id, extra_context)

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        self._delete(request, User.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        append_all_of(services.tables(), queryset)
        self._delete(request, queryset)

    @transaction.atomic
    def _delete(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Delete accounts; nobody else gets their names, for what they said stays under these."""
        models.SharedWindow.lock()  # what a run is storing for their filters is there by then
        names = [user.get_username() for user in queryset]
        super().delete_queryset(request, queryset)
        keep_names(names)
        for name in names:
            recompile_all_of(name, None)


class NamedGroupAdmin(GroupAdmin):
    """Groups; their names stay, for mail goes by the name."""

    form = NewGroupForm

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("name",) if obj else ()


@admin.register(models.RetiredName)
class RetiredNameAdmin(OnlyShown):
    """Names that are not free: a new owner could read their mail.  Forgetting it frees them."""

    list_display = ["name"]


class ProfileRowForm(NewProfile):
    """A profile as its person could have written it: one that cannot be read stops all runs."""

    time_zone = ProfileForm.base_fields["time_zone"]

    def clean_holiday_until(self) -> date | None:
        until: date | None = self.cleaned_data["holiday_until"]
        if until is not None and until.year > LAST_YEAR:
            raise ValidationError(f"Choose a day before {LAST_YEAR + 1}, or none.")
        return until


@admin.register(models.Profile)
class ProfileAdmin(Pages):
    """What people say of themselves; which addresses are theirs, they say alone."""

    form = ProfileRowForm

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("user", "aliases") if obj else ("aliases",)


admin.site.unregister([User, Group])
admin.site.register(User, AccountAdmin)
admin.site.register(Group, NamedGroupAdmin)
admin.site.register([models.Card, models.ConfirmationMail, models.Mute], WrittenByRuns)
admin.site.register([models.Clock, models.SharedWindow, models.ReleaseCounter], OnlyShown)
admin.site.register([models.BounceMailbox, models.Heartbeat], OnlyShown)
admin.site.login_form = AdminSignInForm
admin.site.site_header = "Tapestry"
admin.site.site_title = "Tapestry"
