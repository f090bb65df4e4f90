"""Certificates: from runs to a signed statement that another party can check, and back."""
