"""Requests in people's own words: a lexicon, rules by subject, and the reader that applies them."""
