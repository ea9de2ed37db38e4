"""Pages of delivery."""
