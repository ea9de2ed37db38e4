"""A password hasher that counts how often a password is hashed."""

from django.contrib.auth.hashers import MD5PasswordHasher


class CountedHasher(MD5PasswordHasher):
    """MD5, counted in ``hashed``."""

    hashed: list[str] = []

    def encode(self, password: str, salt: str) -> str:
        self.hashed.append(password)
        return super().encode(password, salt)
