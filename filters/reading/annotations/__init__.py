"""What people say of messages: votes, tags, notes and priorities, kept until appended."""
