"""One claim of KIP-866 a file."""
