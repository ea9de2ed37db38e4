"""Searches as other mail programs write them: ``from:mary -draft``, to phrases."""
