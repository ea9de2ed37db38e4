"""The pages of writing mail."""
