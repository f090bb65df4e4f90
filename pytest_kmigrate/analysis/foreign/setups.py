"""What is no answer of a test: a failed setup, a failed teardown, a suite that did not run.

Most tools report these like failures of a test, under names or with messages of their own. Each is listed here with
the tool that writes it. Whatever is not listed is a failure of the test.
"""

import re

_NAMES = re.compile(
    r"""
    initializationError | executionError | classMethod      # JUnit 4 and 5 by Gradle and Surefire: a whole class
    | @(?:Before|After)(?:Suite|Test|Class|Method|Groups)\b.*           # TestNG: configuration methods
    | (?:setUp|tearDown)(?:Class|Module)\b.*                            # unittest, by unittest-xml-reporting
    | .*"(?:before|after)\ (?:all|each)"\ hook\b.*                      # Mocha, Cypress
    | .*\bTest\ suite\ failed\ to\ run\b.*                              # jest-junit
    | TestMain | \[(?:build|setup)\ failed\]                            # gotestsum; go-junit-report
    | <?.*ContextSuite\ context=.*                                      # nose
    """,
    re.VERBOSE | re.DOTALL,
)

_MESSAGES = re.compile(
    r"""
    failed\ on\ (?:setup|teardown)\ with\b | test\ (?:setup|teardown)\ failure | collection\ failure   # pytest
    | internal\ error$
    | exited\ with\ error\ code\ 12[67]$        # Bazel: the test's program was not found, or could not be executed
    | (?:Build|Runtime)\ error$ | No\ test\ result\ found$                              # go-junit-report
    | (?:One[Tt]ime)?(?:SetUp|TearDown)\s?:                                             # NUnit
    | (?:Class|Assembly)\ (?:[Ii]nitialization|[Cc]leanup)\ method\b                    # MSTest
    | (?:Initialization|TestCleanup)\ method\b
    | The\ forked\ VM\ terminated\b                                                     # Surefire
    """,
    re.VERBOSE,
)

_TYPES = re.compile(r"execution fail(?:ure)?$")
"""cargo-nextest: the test's program could not be started."""

_CLASSES = ("nose.failure.Failure", "Test suite failed to run")

_AFTERWARDS = re.compile(r"(?:failed on|test) teardown|TearDown|TestCleanup|tearDown|@After|\"after ", re.IGNORECASE)


def is_setup(name: str, of: str, message: str, error_type: str) -> bool:
    """Whether a failure or error of this case is one of setup, teardown or a whole suite."""
    if not name or of in _CLASSES or _NAMES.fullmatch(name):
        # A case without a name of its own is how Surefire reports a class whose setup failed.
        return True
    return _MESSAGES.match(message.strip()) is not None or _TYPES.match(error_type) is not None


def is_teardown(name: str, message: str) -> bool:
    """Whether it is one of cleaning up after a test that had its answer already."""
    return _AFTERWARDS.match(message.strip()) is not None or _AFTERWARDS.match(name) is not None
