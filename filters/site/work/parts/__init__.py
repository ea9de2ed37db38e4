"""The parts of a running site: where each is, which have ended, and Spark when it is needed."""
