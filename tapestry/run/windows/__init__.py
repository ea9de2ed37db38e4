"""The windows of filters: one that is shared, and own ones until a filter is enrolled."""
