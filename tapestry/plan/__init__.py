"""IncrementalQuery to a group plan: signature, constants, SQL."""
