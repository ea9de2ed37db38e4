"""Appraisers: a person's weighted rules order what filters delivered.

rules ── compiled ──> score of each message, kept as votes and replies come ──> order of a list

They never decide what is delivered.  Here is the machinery; the page is filters.inbox.appraisers.
"""
