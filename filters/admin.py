"""The administration pages: what an administrator may look at and mend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from filters.accounts.retired_names import check_available
from filters.authoring.dependents import present, recompile_all_of, recompile_dependents
from filters.authoring.lifecycle import full_name
from filters.models import (
    Card,
    Clock,
    Filter,
    Heartbeat,
    Match,
    OutboxAnnotation,
    Profile,
    RetiredName,
    SharedWindow,
)
from filters.runtime.batching import batched
from filters.store import shared_window

if TYPE_CHECKING:
    # The stubs know which model a page is about; Django itself takes no parameter.
    FilterPages = admin.ModelAdmin[Filter]
    MatchPages = admin.ModelAdmin[Match]
    AnnotationPages = admin.ModelAdmin[OutboxAnnotation]
    FormerPages = admin.ModelAdmin[RetiredName]
    NewAccount = AdminUserCreationForm[User]
    NewGroup = forms.ModelForm[Group]
    AccountPages = UserAdmin[User]
else:
    FilterPages = MatchPages = AnnotationPages = FormerPages = admin.ModelAdmin
    NewAccount, NewGroup, AccountPages = AdminUserCreationForm, forms.ModelForm, UserAdmin


STANDING = ("since", "enrolled", "ran_at")
"""Fields that say where a filter stands, which runs alone move."""


@admin.register(Filter)
class FilterAdmin(FilterPages):
    """Filters of everybody: what others may refer to is for their owners to change."""

    list_display = ["name", "owner", "phrase", "mode", "active", "visibility", "error"]
    list_filter = ["active", "mode", "visibility", "owner"]
    search_fields = ["name", "text"]
    readonly_fields = [
        "owner",
        "name",
        "visibility",
        "text",
        "phrase",
        "tql",
        "display_tql",
        "mode",
        "start",
        "end",
        *STANDING,
        "revision",
    ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: filters are written on their own page, which compiles them."""
        return False

    def get_object(self, *args: Any, **kwargs: Any) -> Filter | None:
        """Return a filter, where it stands."""
        found = super().get_object(*args, **kwargs)
        shared_window.show_position([found] if found else [])
        return found

    def save_model(self, request: HttpRequest, obj: Filter, form: Any, change: bool) -> None:
        """Store what was mended, apart from the joint run: it may be whether the filter runs."""
        shared_window.detach(Filter.objects.filter(pk=obj.pk))
        obj.refresh_from_db(fields=STANDING)
        super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Filter) -> None:
        """Delete a filter, and read those again that refer to it."""
        self.delete_queryset(request, Filter.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Filter]) -> None:
        """Delete filters, and read those again that refer to them."""
        names = [full_name(filter_) for filter_ in queryset.select_related("owner")]
        super().delete_queryset(request, queryset)

        def recompile() -> None:
            at = present()
            for batch in batched(names):
                recompile_dependents(batch, at)

        transaction.on_commit(recompile)


@admin.register(Match)
class MatchAdmin(MatchPages):
    """Matches, by filter."""

    list_display = ["msgid", "filter", "audience", "read_at", "retracted_at"]
    raw_id_fields = ["filter", "card"]


@admin.register(OutboxAnnotation)
class OutboxAnnotationAdmin(AnnotationPages):
    """Annotations, those that wait and those that were appended."""

    list_display = ["kind", "value", "number", "owner", "msgid", "appended_at"]


class NewAccountForm(NewAccount):
    """A new account."""

    def clean_username(self) -> str:
        """Refuse a name that was another's, whose mail is still here."""
        name: str = super().clean_username()
        check_available(User, name)
        return name


class NewGroupForm(NewGroup):
    """A new group."""

    def clean_name(self) -> str:
        """Refuse a name that was another's, whose mail is still here."""
        name: str = self.cleaned_data["name"]
        check_available(Group, name)
        return name


class AccountAdmin(AccountPages):
    """Accounts; what has been named stays so, for its mail goes by the name."""

    add_form = NewAccountForm

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the name, once there is one."""
        return ("username",) if obj else ()

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        """Delete an account, and read those filters again that refer to one of its filters."""
        self.delete_queryset(request, User.objects.filter(pk=obj.pk))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        """Delete accounts, and read those filters again that refer to one of their filters."""
        names = [user.get_username() for user in queryset]
        super().delete_queryset(request, queryset)

        def recompile() -> None:
            at = present()
            for name in names:
                recompile_all_of(name, at)

        transaction.on_commit(recompile)


class NamedGroupAdmin(GroupAdmin):
    """Groups; what has been named stays so, for its mail goes by the name."""

    def get_form(self, request: HttpRequest, obj: Any = None, *args: Any, **more: Any) -> Any:
        """Return the form: that of a new group looks at its name."""
        return super().get_form(
            request, obj, *args, **more if obj else {**more, "form": NewGroupForm}
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the name, once there is one."""
        return ("name",) if obj else ()


@admin.register(RetiredName)
class RetiredNameAdmin(FormerPages):
    """Names that are not free; forgetting their mail frees them."""

    list_display = ["name"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Refuse: they are kept as accounts and groups go."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse, as above."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse: whoever took such a name could read its mail."""
        return False


admin.site.unregister([User, Group])
admin.site.register(User, AccountAdmin)
admin.site.register(Group, NamedGroupAdmin)
admin.site.register([Profile, Card, Clock, SharedWindow, Heartbeat])
admin.site.site_header = "Tapestry"
admin.site.site_title = "Tapestry"
