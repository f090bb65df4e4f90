"""A tab of the browser, as a person uses it: pages are looked at, clicked, typed into; and what went wrong is kept."""

import json
from pathlib import Path
from typing import Any

from pytest_kmigrate.waiting import until
from tests.browser.chromium import BrowserError, Chromium

WITHIN_S = 15

_PROBES = (Path(__file__).parent / "probes.js").read_text(encoding="utf-8")
_KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), " ": (32, " "), "Escape": (27, ""), "/": (191, "/")}
"""Key -> what the browser calls it by number, and the text it writes."""

_REQUEST = "Network.requestWillBeSent"
_OF_THE_PAGE_ITSELF = ("data:", "about:")


class Tab:
    """One page at a time, in a profile that nothing else has touched."""

    def __init__(self, browser: Chromium) -> None:
        self._browser = browser
        self._context = browser.call("Target.createBrowserContext")["browserContextId"]
        target = browser.call("Target.createTarget", url="about:blank", browserContextId=self._context)
        attached = browser.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call("Page.setLifecycleEventsEnabled", enabled=True)

    def close(self) -> None:
        """Forget it, with all it stored."""
        self._browser.call("Target.disposeBrowserContext", browserContextId=self._context)

    def open(self, file: Path, place: str = "") -> None:
        """Load a page of this machine anew."""
        # By way of nothing: from a page to another place in it nothing would be loaded.
        for url in ("about:blank", file.as_uri() + place):
            self._browser.events.clear()
            # Told by its number: the page before may be late to say that it is loaded.
            loader = self._call("Page.navigate", url=url)["loaderId"]
            self._browser.wait_for("Page.lifecycleEvent", self._session, name="load", loaderId=loader)
        self.run(_PROBES)

    def run(self, script: str, *arguments: object) -> Any:
        """The value of an expression in the page; a function is called with the arguments."""
        expression = f"({script})({', '.join(map(json.dumps, arguments))})" if arguments else script
        options = {"returnByValue": True, "awaitPromise": True}
        answer = self._call("Runtime.evaluate", expression=expression, **options)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script}: {_thrown(answer['exceptionDetails'])}")
        return answer["result"].get("value")

    def until(self, script: str, awaited: str) -> Any:
        """The first true value of an expression."""
        return until(lambda: self.run(script), awaited=awaited, within_s=WITHIN_S)

    def click(self, element: str) -> None:
        """Click the middle of an element, an expression of the page; fails if anything else is there."""
        x, y = self.run(f"probes.middle({element})")
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def follow(self, link: str) -> None:
        """Click a link to another page, and wait until that is there."""
        self._browser.events.clear()
        self.click(link)
        self._browser.wait_for("Page.loadEventFired", self._session)

    def drag(self, begin: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at one point and let it go at another."""
        for kind, (x, y), button in (
            ("mousePressed", begin, "left"),
            ("mouseMoved", end, "left"),
            ("mouseReleased", end, "left"),
        ):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=1, clickCount=1)

    def press(self, key: str) -> None:
        """Press and let go one key, wherever the focus is."""
        number, text = _KEYS[key]
        named = {"key": key, "windowsVirtualKeyCode": number}
        self._call("Input.dispatchKeyEvent", type="keyDown", text=text, **named)
        self._call("Input.dispatchKeyEvent", type="keyUp", **named)

    def write(self, text: str) -> None:
        """Type a text, wherever the focus is."""
        self._call("Input.insertText", text=text)

    def be_phone(self, width_px: int = 390, height_px: int = 844) -> None:
        """From now on a small screen that is touched."""
        metrics: dict[str, object] = {"width": width_px, "height": height_px, "deviceScaleFactor": 2, "mobile": True}
        self._call("Emulation.setDeviceMetricsOverride", **metrics)

    def be_desktop(self, width_px: int = 1280, height_px: int = 900) -> None:
        """From now on a large window."""
        metrics: dict[str, object] = {"width": width_px, "height": height_px, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **metrics)

    def prefer(self, colours: str) -> None:
        """From now on the system says ``dark`` or ``light``."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": colours}])

    def be_without_scripts(self) -> None:
        """From now on pages' own scripts are not run."""
        self._call("Emulation.setScriptExecutionDisabled", value=True)

    @property
    def complaints(self) -> list[str]:
        """What the console has shown as errors or warnings since the page was opened, and what no script caught."""
        reported = []
        for event in self._events():
            parameters = event["params"]
            match event["method"]:
                case "Runtime.exceptionThrown":
                    reported.append(_thrown(parameters["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                    reported.append(" ".join(str(each.get("value", each["type"])) for each in parameters["args"]))
                case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                    reported.append(parameters["entry"]["text"])
        return reported

    @property
    def requests(self) -> list[str]:
        """Every address asked for since the page was opened, its own among them."""
        sent = [each["params"]["request"]["url"] for each in self._events() if each["method"] == _REQUEST]
        return [url for url in sent if not url.startswith(_OF_THE_PAGE_ITSELF)]

    def _events(self) -> list[dict[str, Any]]:
        # An answer comes after all events that were on their way before it.
        self.run("0")
        return [each for each in self._browser.events if each.get("sessionId") == self._session]

    def _call(self, method: str, **parameters: object) -> dict[str, Any]:
        return self._browser.call(method, self._session, **parameters)


def _thrown(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details["text"])
