"""Addresses of coming and going, and of security."""

from django.urls import path

from filters.people.membership.views import data, email, factors, password, reset, security, sign_up

urlpatterns = [
    path("forgot/", reset.forgot, name="forgot"),
    path("forgot/<str:key>/<str:token>/", reset.reset_password, name="reset-password"),
    path("sign-up/", sign_up.sign_up, name="sign-up"),
    path("sign-up/<str:token>/", sign_up.make, name="make-account"),
    path("me/email/", email.my_email, name="my-email"),
    path("me/email/link/", email.send_email_link, name="send-email-link"),
    path("me/password/", password.my_password, name="password"),
    path("me/data/", data.my_data, name="my-data"),
    path("me/data/<uuid:uid>/", data.fetch_export, name="fetch-export"),
    path("me/delete/", data.delete_account, name="delete-account"),
    path("deleted/<str:token>/", data.account_deleted, name="account-deleted"),
    path("me/security/", security.security, name="security"),
    path("me/security/app/", factors.add_app, name="add-app"),
    path("me/security/app/remove/", factors.remove_app, name="remove-app"),
    path("me/security/passkey/", factors.add_passkey, name="add-passkey"),
    path("me/security/passkey/<str:key>/remove/", factors.remove_passkey, name="remove-passkey"),
    path("me/security/codes/", factors.new_codes, name="new-codes"),
    path("me/security/sign-out/", security.sign_out_elsewhere, name="sign-out-elsewhere"),
    path("me/security/<str:key>/sign-out/", security.sign_out_browser, name="sign-out-browser"),
]
