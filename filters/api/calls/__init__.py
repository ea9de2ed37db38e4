"""The calls of the API, by what they are about."""
