"""What is encrypted, signed, or named by a keyed digest, with the keys of this site."""
