"""Files that survive kills and power loss, and say so if they are damaged."""
