"""The pages of sources."""
