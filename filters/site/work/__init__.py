"""What this process runs beside, and where it lies: services, secrets, the data directory."""
