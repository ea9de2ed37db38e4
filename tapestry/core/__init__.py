"""What every room shares: messages, the schema, errors, time, ports.  No I/O."""
