"""Mail that people write: whom a reply goes to, what it quotes, and the bytes that are sent."""
