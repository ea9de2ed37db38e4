"""What every room shares: messages, schema, errors, time, ports, logs, files and processes."""
