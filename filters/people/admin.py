"""Administration pages of people and groups."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminPasswordChangeForm, AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from filters.authoring.compilation.dependents import recompile_all_of
from filters.people.emails import trust
from filters.people.forms import LAST_YEAR, ProfileForm
from filters.people.membership.ending import end_access
from filters.people.membership.notices import known_address, tell
from filters.people.models import RetiredName, User
from filters.people.names.retired_names import check_available, keep_names
from filters.reading.annotations.outbox import append_all_of
from filters.runs.models import SharedWindow
from filters.site.admin_pages import OnlyShown
from filters.site.work.parts import services

if TYPE_CHECKING:
    # The stubs know which model a form is about; Django itself takes no parameter.
    NewAccount = AdminUserCreationForm[User]
    NewPassword = AdminPasswordChangeForm[User]
    NewGroup = forms.ModelForm[Group]
    ChangedAccount = UserChangeForm[User]
    AccountPages = UserAdmin[User]
else:
    NewAccount, NewGroup = AdminUserCreationForm, forms.ModelForm
    NewPassword, ChangedAccount = AdminPasswordChangeForm, UserChangeForm
    AccountPages = UserAdmin

CHOICES = ("time_zone", "timeliness", "quiet_from", "quiet_to", "holiday_until", "shortcuts")
"""What people choose for themselves, and an administrator may choose for them."""


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
    """Another password of an account: its person is told, and their access ends."""

    def save(self, commit: bool = True) -> User:
        """Store the password alone, or that there is none: the rest may be changed meanwhile."""
        user = super().save(commit=False)
        if commit:
            user.save(update_fields=["password"])
        end_access(user)
        what = "changed" if user.has_usable_password() else "turned off"
        transaction.on_commit(lambda: tell(user, f"An administrator {what} your password."))
        return user


class AccountForm(ChangedAccount):
    """An account as its person could have written it: a time that cannot be read stops all runs."""

    time_zone = ProfileForm.base_fields["time_zone"]

    def clean_holiday_until(self) -> date | None:
        until: date | None = self.cleaned_data["holiday_until"]
        if until is not None and until.year > LAST_YEAR:
            raise ValidationError(f"Choose a day before {LAST_YEAR + 1}, or none.")
        return until


class AccountAdmin(AccountPages):
    """Accounts; their names stay, for mail goes by the name.  People are told what is changed.

    Which addresses are theirs, they say alone.
    """

    form = AccountForm
    add_form = NewAccountForm
    change_password_form = NewPasswordForm
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Choices", {"fields": ("aliases", *CHOICES)}))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("username", "aliases") if obj else ()

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
        SharedWindow.lock_all()  # what a run is storing for their filters is there by then
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


@admin.register(RetiredName)
class RetiredNameAdmin(OnlyShown):
    """Names that are not free: a new owner could read their mail.  Forgetting it frees them."""

    list_display = ["name"]


admin.site.unregister(Group)
admin.site.register(User, AccountAdmin)
admin.site.register(Group, NamedGroupAdmin)
admin.site.site_header = "Tapestry"
admin.site.site_title = "Tapestry"
