"""Triage: what a person does with messages in their lists, one or many, and how it is undone."""
