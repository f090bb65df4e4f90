"""Forms: how files, commands, protocols and programs write a secret, beside its name or by itself."""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator

NAMES = (
    r"(?:(?:(?:api|access|account|private|secret|master|encryption|signing|shared|auth|keystore|stored|server|client)"
    r"[ ._-]?key|(?<=ssl\.)key|(?<=tls\.)key)(?!\.)|pass(?:word|wd|phrase|code)|pwd|secret|token|hmac|salt"
    r"|jaas[._]config|certificate\.chain|truststore\.certificates|user[._]?info|(?:auth|basic|bearer|client|access|login|service)"
    r"[._-]?(?:credentials?|creds)|connection[._-]?string)(?:[._-]?(?:value|plain|text|\d{1,2}))?"
)
"""Ends of names that stand for a secret; prefixes of listeners, mechanisms and products do not matter."""

_HINTS_OF_NAMES = (
    *("passw", "passph", "passcode", "pwd", "secret", "token", "hmac", "salt", "key", "jaas", "certificate"),
    *("user.info", "user_info", "userinfo", "cred", "connectionstring", "connection_string", "connection.string"),
)
"""Each of ``NAMES`` has one of these in it."""

_PLACEHOLDER = re.compile(
    r"""\[(?:hidden|redacted)[^\]\n]*\]|(?:hidden|sha256):[0-9a-f]{12}|[*\u2022]+(?![^\s,;"'\]})])|<(?:hidden|redacted)>|[|>\\][+-]?(?=\s*(?:\n|\Z))
    |(?:null|none|nil|undefined)(?![\w.-])|\$\{[^}\n]*\}|\$[A-Z_][A-Z0-9_]+\b|\{\{[^}\n]*\}\}""",
    re.IGNORECASE | re.VERBOSE,
)
_NAME = re.compile(NAMES, re.IGNORECASE)
_FLAG_NAME = re.compile(
    rf"(?<![\w-])--?(?:[\w.-]*{NAMES}|(?:src|dest|new)?(?:store|key)?pass(?:in|out)?|pw|auth|creds|credentials?)"
    r"(?:=|['\"]?,?[ \t]+)(?=[^\s-])",
    re.IGNORECASE,
)
_IS_FLAG = re.compile(_FLAG_NAME.pattern.partition("(?:=|['")[0] + r"\Z", re.IGNORECASE)
_LOGICAL_LINE = re.compile(r"(?:[^\n\\]|\\\r?\n|\\.)+")  # goes on after a backslash at its end, as in properties
_REST_OF_LINE = re.compile(r"[^\n#]+(?:#(?<! #)[^\n#]*)*")
_BLOCK = re.compile(r"[ \t]*[|>][+-]?[ \t]*\n([ \t]+[^\n]+(?:\n[ \t]+[^\n]+)*)")
_ASSIGNED = re.compile(r"""(?P<quote>\\*["'`])?\]?(?P<space>[ \t]*)(?P<sign>=>|:=|==?|:(?!:))[ \t]*""")
_PAIR = re.compile(
    r"""\\*["']\s*,\s*(?:\\*["']value\\*["']\s*:\s*)?(?=\\*["'])|\\*["']\s+value\s*=\s*(?=["'])|["'][^<>\n]*>(?=[^<\n])"""
    r"""|</name>\s*<value>|["']?[ \t]*\n[ \t]*value[ \t]*:[ \t]*""",
    re.IGNORECASE,
)
_ELEMENT = re.compile(r"(?:\s[^<>]*)?>(?=[^<])")
_QUOTED_AFTER = re.compile(r"""[ \t]+(?:is[ \t]+|to[ \t]+)?(?=["'`])""")
_QUOTE = re.compile(r"""[bur]{0,2}(\\*)(["'`])""")
_LIST = re.compile(r"\[[^\]\n]*\]")
_BARE = re.compile(r"""[^\s,;\]}"'<]+""")
_WORD = re.compile(r"""[^\s"']+""")
_PHRASE = re.compile(r"""[^,;"'\n]+""")
_OF_QUERY = re.compile(r"""[^\s&"'<>#]+""")
_OF_ELEMENT = re.compile(r"[^<]+")
_KIND_OF_REQUEST = re.compile(r"[A-Z_]+\)?|-?\d{1,3}\)?")
_LONGEST_NAME = 100
_MOST_ESCAPES = 3
_ESCAPE = re.compile(r"""\\([\\"'nrt/])""")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
_OPEN = re.compile(rf"""(?:{NAMES}(?:\\*["'`])?,?\s*(?:[:=]\s*(?:[|>][+-]?)?)?|\\)\s*\Z""", re.IGNORECASE)
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")

_LOGIN_IN_URL = r"://(?!(?:hidden|sha256):[0-9a-f]{12}@)[^\s/:@\"']*:([^\s@\"'<>]+)(?=@[^\s@]*(?:[\s\"'<>]|$))"
_VALUE_BEFORE_NAME = (
    r"[\"'\s&]value\\*[\"']?\s*[:=]\s*\\*[\"']([^\"'\\\n]+)\\*[\"'],?\s+"
    rf"\\*[\"']?(?:name|key)\\*[\"']?\s*[:=]\s*\\*[\"'][\w.-]*{NAMES}\\*[\"']"
)
_LOGIN_OF_FLAG = (
    r"(?<![\w-])(?:-u|--(?:proxy-)?user)(?:=|['\"]?,?[ \t]+)['\"]?"
    r"(?!\d+:\d+\b)[^\s:\"'/-][^\s:\"'/]*:([^\s\"'/]+)"
)
_ALONE: list[tuple[tuple[str, ...], re.Pattern[str]]] = [
    (hints, re.compile(pattern, flags))
    for hints, pattern, flags in (
        (("akia", "asia", "abia", "acca"), r"\b((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})\b", 0),
        (("eyj",), r"\b(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)", 0),
        (("ghp_", "gho_", "ghs_", "ghu_", "ghr_"), r"\b(gh[posur]_[A-Za-z0-9]{20,})", 0),
        (("github_pat_", "glpat-"), r"\b(github_pat_\w{20,}|glpat-[\w-]{20,})", 0),
        (("xox", "aiza"), r"\b(xox[abeoprs]-[\w-]{10,}|AIza[\w-]{35})", 0),
        (("k_live_", "npm_", "hvs."), r"\b([sr]k_live_\w{16,}|npm_\w{30,}|hvs\.[\w-]{20,})", 0),
        (("$2", "$5$", "$6$", "$y$", "$argon2"), r"(\$(?:2[aby]|5|6|y|argon2\w*)\$[\w./$=,+-]{20,})", 0),
        (("ls0tls1crudjti",), r"(LS0tLS1CRUdJTi[A-Za-z0-9+/=]{16,})", 0),
        (
            ("authorization",),
            r"(?:proxy-)?authorization['\"\\]*[ \t]*[:=,]+[ \t]*['\"\\]*(?:[\w-]+[ \t]+)?([^\s\"',;\\]+)",
            re.IGNORECASE,
        ),
        (("bearer",), r"\bbearer[ \t:]+(?=\S*[\d._~+/=-]|\S{20})([\w.~+/=-]{8,})", re.IGNORECASE),
        (("cookie",), r"\b(?:set-)?cookie['\"]?[ \t]*[:=][ \t]*['\"]?([^\n\"']+)", re.IGNORECASE),
        (
            ("-u", "--user", "--proxy-user"),
            _LOGIN_OF_FLAG,
            0,
        ),
        (("pass:",), r"\bpass:([^\s\"']+)", 0),
        (("sshpass",), r"\bsshpass[ \t]+-p[ \t]*['\"]?([^\s\"']+)", 0),
        (("mysql", "mariadb"), r"\b(?:mysql|mariadb)\w*\b[^\n|;]{0,200}?[ \t]-p([^\s\"']+)", 0),
        (("ldap",), r"\bldap\w+\b[^\n|;]{0,200}?[ \t]-w[ \t]+['\"]?([^\s\"']+)", 0),
        (("redis-cli",), r"\bredis-cli\b[^\n|;]{0,200}?[ \t]-a[ \t]+['\"]?([^\s\"']+)", 0),
        (("login",), r"\blogin[ \t\n]+\S+[ \t\n]+password[ \t\n]+(\S+)", re.IGNORECASE),
        (("identified",), r"\bidentified[ \t]+by[ \t]+['\"]([^'\"\n]+)", re.IGNORECASE),
        (
            ("addauth", "superdigest"),
            r"(?:\baddauth[ \t]+digest|superDigest\s*[=:])\s*[\"']?[^\s:\"']+:([^\s\"',]+)",
            re.IGNORECASE,
        ),
        (("digest",), r"\bdigest['\"]?[,:][ \t]*['\"]?[^\s:,'\"]+:([A-Za-z0-9+/]{27}=)", 0),
        (("user_",), r"\buser_[\w.@-]+[ \t]*=[ \t]*\\?\"([^\"\\\n]+)", 0),
        (
            ("?", "&", ";"),
            r"[?&;](?:key|sig|auth|code|pass|x-amz-credential|x-amz-signature|awsaccesskeyid)=([^\s&\"'<>#]+)",
            re.IGNORECASE,
        ),
        (("value",), _VALUE_BEFORE_NAME, re.IGNORECASE),
        (("://",), _LOGIN_IN_URL, 0),
        (("://",), r"://([^\s/:@\"']{20,})(?=@)", 0),
    )
]
"""Forms without a name, with what is in each of them in small letters."""

_BASIC = re.compile(
    r"""\bbasic[ \t:]+([A-Za-z0-9+/_-]{6,}={0,2})|["']?\b_?auth["']?[ \t]*[:=][ \t]*["']?([A-Za-z0-9+/]{6,}={0,2})""",
    re.IGNORECASE,
)
_HINTS_OF_BASIC = ("basic", "auth")

HINTS = tuple(
    dict.fromkeys(
        (
            *_HINTS_OF_NAMES,
            *(each for hints, _ in _ALONE for each in hints if len(each) > 1),
            *_HINTS_OF_BASIC,
            *("?key=", "&key=", "code=", "sig=", "pass=", "signature=", "credential=", "keyid="),
            *("-pass", "-pw", "storepass", "-----begin", "loginmodule"),
        )
    )
)
"""Every form has one of these in it: looking for them first spares most texts the patterns."""

Span = tuple[int, int]
"""Where a secret begins in a text, and where it ends."""


def has_hint(text: str, hints: Iterable[str] = HINTS) -> bool:
    """Whether a form of a secret may be in a text; ``hints``: those in a larger text, of which it is a part."""
    folded = text.casefold()
    return any(hint in folded for hint in hints)


def goes_on(line: str) -> bool:
    """Whether a line ends with the name of a secret, or with a mark that its value goes on in the next line."""
    return _OPEN.search(line[-_LONGEST_NAME:]) is not None


def secrets_of(text: str) -> list[Span]:
    """The places of all secrets in a text, from its beginning on; none lies in another.

    A text inside another one is looked at as it was before it was escaped, too.
    """
    spans, plain, places = set(_spans(text)), text, list(range(len(text) + 1))
    for _ in range(_MOST_ESCAPES):
        if _ESCAPE.search(plain) is None:
            break
        plain, places = _unescaped(plain, places)
        spans.update((places[begin], places[end]) for begin, end in _spans(plain))
    return _apart(spans)


def _spans(text: str) -> set[Span]:
    folded = text.casefold()
    spans = {*_alone(text, folded)}
    if any(hint in folded for hint in _HINTS_OF_NAMES):
        spans.update(_named(text))
    if "-" in text:
        spans.update(_of_flags(text))
    return spans


def _unescaped(text: str, places: list[int]) -> tuple[str, list[int]]:
    """The text without one level of escapes, and where each character of it stands in the first text."""
    parts, kept, end = list[str](), list[int](), 0
    for match in _ESCAPE.finditer(text):
        parts += [text[end : match.start()], _ESCAPED.get(match[1], match[1])]
        kept += [*places[end : match.start()], places[match.start()]]
        end = match.end()
    return "".join([*parts, text[end:]]), kept + places[end:]


def _apart(spans: set[Span]) -> list[Span]:
    """Spans in order; those that meet are one."""
    found = sorted(spans, key=lambda span: (span[0], -span[1]))
    kept: list[Span] = []
    for begin, end in found:
        if not kept or begin >= kept[-1][1]:
            kept.append((begin, end))
        elif end > kept[-1][1]:
            kept[-1] = kept[-1][0], end
    return kept


def is_sensitive(name: str) -> bool:
    """Whether a property, option or variable of this name holds a secret."""
    return any(match.end() == len(name) for match in _NAME.finditer(name))


def is_flag(word: str) -> bool:
    """Whether the next word of a command line is a secret."""
    return word.startswith("-") and _IS_FLAG.match(word) is not None


def _named(text: str) -> Iterator[Span]:
    for match in _NAME.finditer(text):
        begin = _beginning_of_name(text, match.start())
        span = _value_after(text, begin, match.end())
        if span and not _is_ordinary(text, begin, match.end(), span):
            yield from _clean(text, span)


def _beginning_of_name(text: str, at: int) -> int:
    begin, least = at, max(0, at - _LONGEST_NAME)
    while begin > least and text[begin - 1] in _IN_NAMES:
        begin -= 1
    return begin


def _value_after(text: str, begin: int, end: int) -> Span | None:
    before = text[begin - 1] if begin else "\n"
    if before == "<" and (element := _ELEMENT.match(text, end)):
        return _span(_OF_ELEMENT, text, element.end())
    if assigned := _ASSIGNED.match(text, end):
        return _assigned(text, begin, before, assigned)
    if pair := _PAIR.match(text, end):
        if pair[0].rstrip().endswith(",") and text[begin - 2 : begin - 1] != "(":  # a list of names, not a pair
            return None
        is_element = pair[0].endswith(">")
        return _span(_OF_ELEMENT, text, pair.end()) if is_element else _value(text, pair.end(), _BARE)
    if quoted := _QUOTED_AFTER.match(text, end):
        return _value(text, quoted.end(), _BARE)
    return None


def _assigned(text: str, begin: int, before: str, assigned: re.Match[str]) -> Span | None:
    at, sign = assigned.end(), assigned["sign"]
    block = _BLOCK.match(text, assigned.end("sign")) if sign == ":" else None
    if block:
        return block.span(1)
    is_bare = assigned["quote"] is None and not _QUOTE.match(text, at)
    is_line = is_bare and not text[text.rfind("\n", 0, begin) + 1 : begin].strip(" \t-")
    is_jaas = is_bare and "jaas" in text[begin : assigned.start()].casefold()
    if text[begin : begin + 1] == "-":
        bare = _WORD
    elif before in "?&;" and sign == "=":
        bare = _OF_QUERY
    elif is_bare and text[begin : assigned.start()].casefold().endswith("passphrase"):
        bare = _PHRASE
    elif is_jaas or (is_line and sign == "="):
        bare = _LOGICAL_LINE
    elif is_line and sign == ":" and text[at : at + 1] not in ("[", "{"):
        bare = _REST_OF_LINE
    else:
        bare = _BARE
    return _value(text, at, bare)


def _value(text: str, at: int, bare: re.Pattern[str]) -> Span | None:
    """A value that begins here: in quotes, a list, or up to what ends a bare one."""
    if _PLACEHOLDER.match(text, at):
        return None
    if quote := _QUOTE.match(text, at):
        return quote.end(), _end_of_quoted(text, quote.end(), len(quote[1]), quote[2])
    if listed := _LIST.match(text, at):
        return listed.span()
    return _span(bare, text, at)


def _end_of_quoted(text: str, at: int, slashes: int, quote: str) -> int:
    """Where the same quote comes that began it, behind as many backslashes; otherwise where its line ends."""
    line_end = text.find("\n", at)
    limit = len(text) if line_end < 0 else line_end
    position = at
    while (position := text.find(quote, position)) >= 0:
        before = position
        while before > at and text[before - 1] == "\\":
            before -= 1
        escapes = position - before
        if escapes == slashes or (slashes == 0 and escapes % 2 == 0):
            return before if slashes else position
        position += 1
    return limit


def _of_flags(text: str) -> Iterator[Span]:
    for match in _FLAG_NAME.finditer(text):
        if span := _value(text, match.end(), _WORD):
            yield from _clean(text, span)


def _alone(text: str, folded: str) -> Iterator[Span]:
    for hints, pattern in _ALONE:
        if any(hint in folded for hint in hints):
            for match in pattern.finditer(text):
                yield from _clean(text, match.span(1))
    if any(hint in folded for hint in _HINTS_OF_BASIC):
        for match in _BASIC.finditer(text):
            group = 1 if match[1] else 2
            if _is_login(match[group]):
                yield match.span(group)


def _is_login(text: str) -> bool:
    """Whether it is base64 of a user and a password."""
    try:
        return b":" in base64.b64decode(
            text + "=" * (-len(text) % 4), altchars=b"-_" if set("-_") & set(text) else None
        )
    except (binascii.Error, ValueError):
        return False


def _span(pattern: re.Pattern[str], text: str, at: int) -> Span | None:
    match = pattern.match(text, at)
    return match.span() if match else None


def _clean(text: str, span: Span) -> Iterator[Span]:
    """The value without spaces around it; nothing for one that is empty or stands for another already."""
    begin, end = span
    while begin < end and text[begin].isspace():
        begin += 1
    while end > begin and text[end - 1].isspace():
        end -= 1
    placeholder = _PLACEHOLDER.match(text, begin, end)
    if begin < end and not (placeholder and placeholder.end() >= end - 1):
        yield begin, end


def _is_ordinary(text: str, begin: int, end: int, span: Span) -> bool:
    """Shells name the folder in which they are as PWD, and Kafka logs kinds of requests as ``apiKey``."""
    name = text[begin:end]
    if name in {"PWD", "OLDPWD"}:
        return text[span[0]] in "/~"
    return name.endswith(("apiKey", "ApiKey")) and _KIND_OF_REQUEST.fullmatch(text, *span) is not None
