"""Glossary: the words of the report."""

from pytest_kmigrate.reports.pages.drawing import text
from pytest_kmigrate.reports.pages.glossary import GLOSSARY
from pytest_kmigrate.reports.site.views import Site, View


def glossary(_site: Site) -> View:
    """Every word with its meaning."""
    listed = "".join(f"<dt>{text(word)}</dt><dd>{text(meaning)}</dd>" for word, meaning in GLOSSARY.items())
    return View("glossary", "Glossary", "Terminal, pages and tables use these words alike.", f"<dl>{listed}</dl>")
