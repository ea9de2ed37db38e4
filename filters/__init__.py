"""The site: people, their filters and what matched; the application around the rooms."""
