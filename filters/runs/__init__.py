"""Runs of filters: the lanes and rounds of the workers, the store that they use, health."""
