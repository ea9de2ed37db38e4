"""A whole site in simulated time, driven by a seed, judged by an auditor of its own."""
