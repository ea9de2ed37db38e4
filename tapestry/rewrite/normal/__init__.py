"""Rules of the normal stage: condition to condition, and last to an OR of ANDs."""
