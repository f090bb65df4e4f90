"""Facts about options and their keys in the ini file: a wrong one is reported before anything is collected."""

import pytest

from pytest_kmigrate.catalogue import profiles
from pytest_kmigrate.plugin.options import options_of

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    ("option", "reported"),
    [
        (
            ("--kmigrate-seed", "many"),
            "--kmigrate-seed: expected a whole number from 0 on, of 18 digits at most; got 'many'",
        ),
        (
            ("--kmigrate-profile", "kip-1"),
            f"--kmigrate-profile: expected one of {', '.join(profiles())}; got 'kip-1'",
        ),
        (("--kmigrate-seed", "9" * 5000), "--kmigrate-seed: expected a whole number *; got '99*99...'"),
        (
            ("--kmigrate-kafka", ""),
            "--kmigrate-kafka: expected a value, got none; leave the option out for *",
        ),
        (
            ("--kmigrate-exercise", "--kmigrate-profile=kip-125"),
            "--kmigrate-exercise: expected a document that names code of Kafka, got kip-125, which names none; *",
        ),
        (
            ("--kmigrate-classes", "kafka.zk.*,x"),
            "--kmigrate-classes: expected names of classes with * for any text, and : between them; got *",
        ),
        (("--kmigrate-mutant", "nowhere"), "--kmigrate-mutant: nowhere: expected a folder with mutant.json *"),
        (("--kmigrate-byteman", "none.btm"), "--kmigrate-byteman: expected a file of Byteman rules; none.btm is none"),
    ],
)
def test_a_wrong_option_is_told_in_one_sentence(
    pytester: pytest.Pytester, option: tuple[str, str], reported: str
) -> None:
    """A usage error before anything is collected: exit status 4, and no stack trace."""
    result = pytester.runpytest_inprocess(*option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {reported}".replace("[", "[[]")])
    assert "Traceback" not in result.stderr.str()


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        (
            "kmigrate_sed = 3",
            '*tox.ini: kmigrate_sed: expected a key of an option, got an unknown key; did you mean "kmigrate_seed"?',
        ),
        (
            "kmigrate-kep = true",
            '*kmigrate-kep: expected a key of an option, got an unknown key; did you mean "kmigrate-keep"?',
        ),
        (
            "kmigrate_xyzzy = 1",
            "*kmigrate_xyzzy: expected a key of an option, got an unknown key: take it out, or correct it",
        ),
        (
            "kmigrate_provider =",
            "*tox.ini: kmigrate_provider: expected a value, got none; leave the key out for the default",
        ),
    ],
)
def test_a_key_of_the_ini_file_that_is_none_is_refused(pytester: pytest.Pytester, line: str, reported: str) -> None:
    """The default would be tested instead of what was meant; pytest itself only warns."""
    pytester.makeini(f"[pytest]\n{line}\n")
    pytester.makepyfile("def test_it(cluster): pass")
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--collect-only")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {reported}"])
    assert "Traceback" not in result.stderr.str()


def test_a_secret_in_a_command_that_is_none_is_not_repeated(pytester: pytest.Pytester) -> None:
    """The terminal of a CI is read by many."""
    result = pytester.runpytest_inprocess("--kmigrate-member", "member --password hunter2-x 'open")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "hunter2-x" not in result.stderr.str()
    result.stderr.fnmatch_lines(["ERROR: --kmigrate-member: expected a command; got *hidden:*: No closing quotation"])


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b"", "is none"),
        (b"\xff\xfe", "is none"),
        (b"a poem", "is none"),
        (b"# RULE x\n# ENDRULE\n", "is none"),
        (b"\xef\xbb\xbfRULE x\nCLASS Y\nMETHOD z\nENDRULE\n", "begins with a byte order mark, which Byteman *"),
        (b"RULE x\nCLASS Y\n", "has no ENDRULE for the RULE of line 1"),
        (b"RULE x\nRULE y\nENDRULE\n", "has no ENDRULE for the RULE of line 1 before the next begins in line 2"),
        (b"RULE x\nCLASS Y\nMETHOD z\nENDRULE\nENDRULE\n", "has an ENDRULE without a RULE in line 5"),
        (b"RULE x\nCLASS Y\nENDRULE\n", "has no METHOD in the RULE of line 1"),
        (
            b"RULE x\nCLASS Y\nMETHOD z\nENDRULE\nRULE w\nMETHOD z\nENDRULE\n",
            "has no CLASS or INTERFACE in the RULE of line 5",
        ),
    ],
)
@pytest.mark.slow
def test_rules_that_are_none_are_told(pytester: pytest.Pytester, content: bytes, wrong: str) -> None:
    """Before a cluster is started for them."""
    pytester.path.joinpath("rules.btm").write_bytes(content)
    result = pytester.runpytest_inprocess("--kmigrate-byteman", "rules.btm")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: --kmigrate-byteman: expected a file of Byteman rules; rules.btm {wrong}"])


def test_an_unknown_provider_is_told_with_those_there_are(pytester: pytest.Pytester) -> None:
    """The fake provider is for unit tests only: the command line does not know it."""
    result = pytester.runpytest_inprocess("--kmigrate-provider", "fake")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --kmigrate-provider: expected one of *; got 'fake'"])


def test_options_can_stand_in_the_ini_file(pytester: pytest.Pytester) -> None:
    """Each option has a key of the same name; the command line wins."""
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\nkmigrate-seed = "5"\nkmigrate-kafka = "3.6.0"\n')
    pytester.makepyfile("def test_it(topology): pass")
    result = pytester.runpytest_inprocess("--kmigrate-seed", "6")
    result.stdout.fnmatch_lines(["kmigrate: kafka 3.6.0, seed 6, profile kip-866, runs in reports/runs"])


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pytest.ini", "[pytest]\nkmigrate_seed = 7\nkmigrate_kafka = 3.6.0"),
        ("pyproject.toml", '[tool.pytest.ini_options]\nkmigrate_seed = 7\nkmigrate-kafka = "3.6.0"'),
        ("pyproject.toml", '[tool.pytest]\nkmigrate-seed = 7\nkmigrate_kafka = "3.6.0"'),
        ("pytest.toml", '[pytest]\nkmigrate_seed = 7\nkmigrate-kafka = "3.6.0"'),
    ],
)
def test_keys_of_the_ini_file_are_spelled_with_dashes_or_underscores(
    pytester: pytest.Pytester, file: str, text: str
) -> None:
    """As options are, or as pytest's own keys; a number needs no quotes."""
    pytester.path.joinpath(file).write_text(text)
    pytester.makepyfile("def test_it(topology): pass")
    result = pytester.runpytest_inprocess("-W", "error")
    result.stdout.fnmatch_lines(["kmigrate: kafka 3.6.0, seed 7, profile kip-866, runs in reports/runs"])


@pytest.mark.parametrize(
    ("file", "text", "reported"),
    [
        (
            "pyproject.toml",
            '[tool.pytest.ini_options]\nkmigrate-seed = ["5"]',
            "seed: expected one text *, got [[]'5'[]]",
        ),
        (
            "pyproject.toml",
            '[tool.pytest.ini_options]\nkmigrate-keep = "maybe"',
            "keep: expected true or false *'maybe'",
        ),
        ("pytest.toml", "[pytest]\nkmigrate-seed = [5]", "seed: expected one text in the ini file, got: *"),
        ("pytest.toml", "[pytest]\nkmigrate-seed = true", "seed: expected one text in the ini file, got: *"),
        ("pytest.ini", "[pytest]\nkmigrate-keep = 7", "keep: expected true or false in the ini file, got: *"),
        (
            "pytest.ini",
            "[pytest]\nkmigrate-seed = 7\nkmigrate_seed = 8",
            "seed and kmigrate_seed: expected one of them in the ini file, got both: leave one",
        ),
    ],
)
@pytest.mark.slow
def test_a_wrong_key_of_the_ini_file_is_told(pytester: pytest.Pytester, file: str, text: str, reported: str) -> None:
    """As a wrong option is."""
    pytester.path.joinpath(file).write_text(text)
    result = pytester.runpytest_subprocess()  # pytest itself warns of a list, and this one shall not hear of it
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: kmigrate-{reported}"])


def test_a_seed_that_only_looks_like_a_number_is_a_wrong_option(pytester: pytest.Pytester) -> None:
    """A superscript two is a digit, and no whole number."""
    result = pytester.runpytest_inprocess("--kmigrate-seed", "\N{SUPERSCRIPT TWO}")
    assert "expected a whole number" in result.stderr.str()


@pytest.mark.slow
def test_options_are_checked_once(pytester: pytest.Pytester) -> None:
    """Each test asks for them: a file is not read again for each of 2,000 tests."""
    file = pytester.makeini("[pytest]\nkmigrate-seed = 7\n")
    config = pytester.parseconfigure()
    first = options_of(config)
    file.unlink()
    assert options_of(config) is first
    assert first.seed == 7
