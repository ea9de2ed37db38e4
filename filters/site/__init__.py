"""What holds for every page: headers, errors, health."""
