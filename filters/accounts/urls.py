"""Addresses of the pages about accounts: signing in and out, the profile, the password."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from filters.accounts import views
from filters.accounts.signing_in.forms import SignInForm

urlpatterns = [
    path("me/", views.profile, name="me"),
    path("me/password/", views.password, name="password"),
    path(
        "sign-in/",
        LoginView.as_view(
            template_name="filters/accounts/sign_in.html",
            authentication_form=SignInForm,
            redirect_authenticated_user=True,
        ),
        name="sign-in",
    ),
    path("sign-out/", login_not_required(LogoutView.as_view()), name="sign-out"),
]
