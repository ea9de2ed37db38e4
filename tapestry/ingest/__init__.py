"""Wire to bytes to Message to append: archives, IMAP mailboxes and news."""
