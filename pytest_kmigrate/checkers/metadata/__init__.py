"""Claims about metadata images: equal on every side, sound, and with every acknowledged change."""
