"""Wire to bytes to Message to append: archives and IMAP mailboxes."""
