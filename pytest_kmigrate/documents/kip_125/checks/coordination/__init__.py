"""Checks of which system members follow, and of their membership in both."""
