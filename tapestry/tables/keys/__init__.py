"""Sorted runs of hashes: the index of rows, and tombstones."""
