"""The forms of destinations, by kind: where matches go, and which filters' they are."""
