"""Mail in files: mboxes, Maildirs, directories and single messages."""
