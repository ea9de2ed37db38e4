"""Find rows without scanning, and read what a page shows."""
