"""Writes the plans; ``python -m pytest_kmigrate.plugin.planning`` is the same for documents of other packages."""

from pytest_kmigrate.plugin.planning import main

if __name__ == "__main__":
    main()
