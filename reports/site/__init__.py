"""The site: one function per view, each from the summary to HTML; ``reports.page`` puts them into one file."""
