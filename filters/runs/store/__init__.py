"""The ports of ``tapestry.core`` on Django's database: clock, filters, windows, matches."""
