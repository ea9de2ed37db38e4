"""Why a message is not in a filter: asked of the worker, and put into words."""
