"""An image that stands in for a vendor's: other paths, another user, scripts of its own, an entry point that fails."""
