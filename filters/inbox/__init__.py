"""The inbox and the lists of filters, with the sidebar beside them."""
