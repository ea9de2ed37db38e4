"""Writing filters: understood, completed, previewed, kept."""
