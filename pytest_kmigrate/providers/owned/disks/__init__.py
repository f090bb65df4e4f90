"""What nodes keep on disk: its folders, its formatting, and copies of it."""
