"""Words of templates about shared filters."""
