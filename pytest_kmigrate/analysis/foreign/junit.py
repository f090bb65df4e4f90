"""JUnit XML, as many tools write it: suites of test cases.

Read with expat, event by event: what stands before a break counts, and a document type is refused at its first
letter, so that no entity of it is ever expanded.
"""

from xml.parsers import expat

from pytest_kmigrate.analysis.foreign.junit_cases import ENDINGS, Case, Ending, Suite, results_of
from pytest_kmigrate.analysis.foreign.numbers_and_times import comma_is_decimal, number
from pytest_kmigrate.analysis.foreign.other_formats import another_xml, document_type
from pytest_kmigrate.analysis.foreign.results import MOST_SUMMARY_CHARACTERS, Reading, Result, Unread, shown
from pytest_kmigrate.analysis.foreign.trx import ROOT, read_trx
from pytest_kmigrate.analysis.foreign.xml_characters import allowed

_NOT_OF_THE_ENDING = ("system-out", "system-err")
_SUITES = ("testsuites", "testsuite")


class _NotReadError(Exception):
    """The file is well-formed so far, and nothing for us."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.reading = reading


class _Reader:
    """Follows the events of the parser and keeps every test case that was closed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.cases: list[Case] = []
        self.unread: list[Unread] = []
        self._open: list[str] = []
        self._suites: list[Suite] = []
        self._seen = 0
        self._case: Case | None = None
        self._ending: Ending | None = None

    def begin(self, qualified: str, attributes: dict[str, str]) -> None:
        tag = qualified.rpartition(" ")[2]
        if not self._open and tag not in _SUITES:
            raise _NotReadError(read_trx(self._text) if tag == ROOT else another_xml(tag, 1))
        self._open.append(tag)
        if tag in _SUITES:
            self._begin_suite(attributes)
        elif tag == "testcase":
            self._case = Case(attributes, self._suites[-1])
            self._suites[-1].has_cases = True
        elif tag == "property" and "name" in attributes:
            properties = self._case.properties if self._case else self._suites[-1].properties
            properties[attributes["name"]] = attributes.get("value", "")
        elif tag in ENDINGS and (self._case or self._open[-2] in _SUITES):
            self._ending = Ending(tag, attributes)
            if self._case:
                self._case.endings.append(self._ending)

    def _begin_suite(self, attributes: dict[str, str]) -> None:
        above = self._suites[-1] if self._suites else Suite("", {}, {}, 0)
        kept = {key: above.attributes[key] for key in ("timestamp", "hostname", "time") if key in above.attributes}
        if "timestamp" in attributes:
            # The time of the suite around it lasts from another start.
            kept.pop("time", None)
        self._seen += 1
        is_ducktape = above.is_ducktape or (not self._suites and attributes.get("name") == "ducktape")
        name = attributes.get("name", above.name)
        properties = dict(above.properties)
        self._suites.append(
            Suite(name, {**kept, **attributes}, properties, self._seen, is_ducktape, _counts(attributes))
        )

    def text(self, characters: str) -> None:
        ending = self._ending
        if ending and self._open[-1] not in _NOT_OF_THE_ENDING and ending.characters < MOST_SUMMARY_CHARACTERS:
            ending.text.append(characters)
            ending.characters += len(characters)

    def end(self, _qualified: str) -> None:
        tag = self._open.pop()
        if self._ending and tag == self._ending.tag:
            ending, self._ending = self._ending, None
            if not self._case:
                self._broke(ending)
        elif tag == "testcase" and self._case:
            self.cases.append(self._case)
            self._case = None
        elif tag in _SUITES:
            self._end_suite(self._suites.pop())

    def _broke(self, ending: Ending) -> None:
        """A suite reports an error of its own: its tests may not have run."""
        suite = self._suites[-1]
        summary = shown(ending.message) or ending.tag
        self.unread.append(Unread(f"suite {suite.name} broke outside of its test cases: {summary}"))
        suite.has_cases = True

    def _end_suite(self, suite: Suite) -> None:
        if suite.counts and not suite.has_cases:
            self.unread.append(Unread(f"suite {suite.name} has no test case, though it counts {suite.counts}"))
            suite.has_cases = True
        if self._suites:
            self._suites[-1].has_cases |= suite.has_cases


def read_junit(text: str) -> Reading:
    """Every attempt of every test case; of a broken file, those before the break."""
    reader = _Reader(text)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.begin
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = _refuse
    try:
        parser.Parse(allowed(text.removeprefix("\ufeff")), True)  # noqa: FBT003  # takes no name
    except expat.ExpatError as error:
        reader.unread.append(
            Unread(f"broken XML: {expat.ErrorString(error.code)}; what stands before it counts", error.lineno)
        )
    except _NotReadError as error:
        return error.reading
    decimal_comma = comma_is_decimal(case.attributes.get("time", "") for case in reader.cases)
    found = list(results_of(reader.cases, decimal_comma=decimal_comma))
    unread = [*reader.unread, *(each for each in found if isinstance(each, Unread))]
    return Reading(tuple(each for each in found if isinstance(each, Result)), tuple(unread))


def _refuse(root: str, *_declared: object) -> None:
    if root not in (*_SUITES, ROOT):
        raise _NotReadError(another_xml(root, 1))
    raise _NotReadError(document_type())


def _counts(attributes: dict[str, str]) -> str:
    """How many tests, failures and errors a suite says it has; nothing where it has none."""
    counted = [(number(attributes.get(name)), name) for name in ("tests", "failures", "errors")]
    return ", ".join(f"{name} {count:.0f}" for count, name in counted if count)
