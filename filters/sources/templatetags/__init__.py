"""Words of templates about sources."""
