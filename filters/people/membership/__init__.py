"""Coming and going: sign-up, a lost password, security, the export and deletion of an account."""
