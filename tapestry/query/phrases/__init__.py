"""Phrases: text to a parsed query, and a condition back to the phrase that means it."""
