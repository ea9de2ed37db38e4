"""Addresses of the pages about accounts: signing in and out, the profile."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView
from django.urls import include, path

from filters.people import views
from filters.people.second_factor import views as second_factor

urlpatterns = [
    path("me/", views.profile, name="me"),
    path("me/confirm/", second_factor.confirm, name="confirm-person"),
    path("sign-in/", second_factor.SignIn.as_view(), name="sign-in"),
    path("sign-in/code/", second_factor.sign_in_code, name="sign-in-code"),
    path("sign-out/", login_not_required(LogoutView.as_view()), name="sign-out"),
    path("", include("filters.people.membership.urls")),
]
