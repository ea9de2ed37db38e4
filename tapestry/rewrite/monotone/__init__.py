"""Rules of the monotone stage: a conjunction becomes an interval of time per binding."""
