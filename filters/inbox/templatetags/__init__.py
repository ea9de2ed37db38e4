"""Words of templates about importance."""
