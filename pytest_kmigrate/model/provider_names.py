"""The names of the providers, by themselves: pytest asks for them at every start."""

from typing import Final

PROCESS: Final = "process"
DOCKER: Final = "docker"
ATTACH: Final = "attach"
PROVIDERS = (PROCESS, DOCKER, ATTACH)
