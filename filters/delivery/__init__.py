"""Delivery: released matches, sent by the ways that their owners chose, each exactly once.

released matches ─ due ─> claim ─> batch ─> way ─ answer ─> confirmed, or to be tried again
"""
