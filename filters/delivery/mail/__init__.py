"""Mail that this site writes: how it is sent or kept, to which addresses, and what comes back."""
