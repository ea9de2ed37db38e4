"""What holds for every page: headers, failures of a part, health."""
