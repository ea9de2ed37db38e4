"""The pages: one file each, function views."""
