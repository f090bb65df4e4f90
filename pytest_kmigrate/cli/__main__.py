"""``python -m pytest_kmigrate.cli``, for where the console command is not on PATH."""

from pytest_kmigrate.cli import main

main()
