"""Exit statuses of the console command; what runs show becomes one of them by ``checkers.tally.exit_status`` alone."""

import enum


class ExitStatus(enum.IntEnum):
    """How a command ends; the first sentence of each is the table in docs/reference/options.md."""

    DONE = 0
    """Done, and nothing new: all that is judged conforms, or is violated by known defects and departures only."""
    VIOLATED = 1
    """A new violation, which no known bug or departure explains. With ``--strict`` also a known one."""
    WRONG_USE = 2
    """Wrong use: an option, a file or a name is wrong."""
    OPEN = 3
    """Inconclusive: nothing was judged, or a run is left open. With ``--strict`` also a requirement never judged."""
    LACKING = 4
    """The environment lacks something."""
    INTERRUPTED = 130
    """Interrupted by Ctrl-C."""
    UNREAD = 141
    """The reader of the output went away, as in ``| head``."""
