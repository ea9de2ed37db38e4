"""The site: its settings, middleware, requests and words for templates, and its launch."""
