"""What the measurements share: generated mail and filters, a harness for rounds, the curve."""
