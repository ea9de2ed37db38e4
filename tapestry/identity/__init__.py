"""Identity of messages: by their Message-ID, and by what they say."""
