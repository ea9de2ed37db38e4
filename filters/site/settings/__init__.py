"""Settings that come from the environment: read once, at the start, or refused in one sentence."""
