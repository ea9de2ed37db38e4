"""Plan and window to matches, on Spark."""
