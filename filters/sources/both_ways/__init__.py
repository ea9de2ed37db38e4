"""What a mailbox and Tapestry tell each other: flags, tags, acts of filters, our own folders."""
