"""When two messages are the same: by their Message-ID, and by what they say."""
