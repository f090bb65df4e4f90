"""Results of Visual Studio and ``dotnet test``: ``*.trx``."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET  # its name everywhere

from pytest_kmigrate.analysis.foreign.numbers_and_times import number, time_of
from pytest_kmigrate.analysis.foreign.other_formats import another_xml, document_type
from pytest_kmigrate.analysis.foreign.results import Reading, Result, Unread, shown, simple_result
from pytest_kmigrate.analysis.foreign.xml_characters import allowed

ROOT = "TestRun"
_DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)
_WORDS = {"notexecuted": "skipped", "timeout": "failed", "passedbutrunaborted": "failed", "disconnected": "failed"}
_CLOCK = re.compile(r"(\d+):(\d{2}):(\d{2}(?:\.\d+)?)")


def read_trx(text: str) -> Reading:
    """Every result of a run; a document type is refused, as its entities may have any size."""
    if _DOCTYPE.search(text):
        return document_type()
    try:
        root = ET.fromstring(allowed(text.removeprefix("\ufeff")))  # noqa: S314  # it has no entities of its own
    except (ET.ParseError, ValueError) as error:
        return Reading(unread=(Unread(f"broken XML: {error}"),))
    if _tag(root) != ROOT:
        return another_xml(_tag(root), 1)
    classes = {
        str(test.get("id")): str(method.get("className") or "")
        for test in root.iter()
        if _tag(test) == "UnitTest"
        for method in test
        if _tag(method) == "TestMethod"
    }
    results = [_result(each, classes) for each in root.iter() if _tag(each) == "UnitTestResult"]
    counted = next((each for each in root.iter() if _tag(each) == "Counters"), None)
    claimed = number(counted.get("total")) if counted is not None else None
    unread = (Unread(f"it counts {claimed:.0f} results and holds none"),) if claimed and not results else ()
    return Reading(tuple(results), unread)


def _result(element: ET.Element, classes: dict[str, str]) -> Result:
    name, of = str(element.get("testName") or ""), classes.get(str(element.get("testId")), "").partition(",")[0]
    test_id = name if not of or name.startswith(f"{of}.") else f"{of}.{name}"
    word = str(element.get("outcome") or "unknown").lower()
    texts = {_tag(each): each.text or "" for each in element.iter() if _tag(each) in ("Message", "StackTrace")}
    summary = shown(texts.get("Message"), texts.get("StackTrace"))
    started_at = time_of(str(element.get("startTime") or ""))
    took_ms = _milliseconds(str(element.get("duration") or ""))
    found = simple_result("trx", test_id, _WORDS.get(word, word), started_at, took_ms, summary)
    return replace(found, host=str(element.get("computerName") or ""))


def _milliseconds(clock: str) -> float | None:
    found = _CLOCK.fullmatch(clock)
    return (int(found[1]) * 3_600 + int(found[2]) * 60 + float(found[3])) * 1_000 if found else None


def _tag(element: ET.Element) -> str:
    return str(element.tag).rpartition("}")[2]
