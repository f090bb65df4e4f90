"""Building blocks of pages: markup, charts, Markdown, publication."""
