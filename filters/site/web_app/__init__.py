"""The site as an app that can be installed: manifest, service worker, and a page without a net."""
