"""A command line for people, on any machine: it asks a site that runs, by its API and a token.

tapestry VERB ─ arguments ─> verbs ─ site ─> /api/v1/ ─> output ─> stdout
"""
