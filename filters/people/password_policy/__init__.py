"""Parts of the password policy beside those of Django."""
