"""Byteman's answer to LIST, as 4.0.24 gave it on Kafka 3.9.1 (shortened), is read rule by rule."""

from pytest_kmigrate.providers.owned.agents.rules import rules_told

LISTING = """\
# File /tmp/etc/rules.btm line 26
RULE misspelt
CLASS a.B
METHOD <init>
NOCOMPILE
AT EXIT
IF true
DO $0.baseOfset = 0
ENDRULE
Transformed in:
loader: app
trigger method: a.B.<init>() void
threw org.jboss.byteman.rule.exception.TypeException: invalid field reference a.B .baseOfset line 27
org.jboss.byteman.rule.exception.TypeException: invalid field reference a.B .baseOfset line 27
\tat org.jboss.byteman.rule.Rule.typeCheck(Rule.java:601)

# File /tmp/etc/rules.btm line 5
RULE throws
CLASS a.B
METHOD b
IF true
DO throw new java.io.IOException: no
ENDRULE
Transformed in:
loader: app
trigger method: a.B.b() void
compiled successfully
# File /tmp/etc/rules.btm line 15
RULE waits
CLASS a.B
METHOD c
IF true
DO delay(1)
ENDRULE
Transformed in:
loader: app
trigger method: a.B.c() void
# File /tmp/etc/rules.btm line 20
RULE no such class
CLASS a.C
METHOD c
IF true
DO delay(1)
ENDRULE
# File kmigrate line 1
RULE held
CLASS a.B
METHOD d
IF true
DO delay(1)
ENDRULE
OK
"""


def test_each_rule_of_one_script_is_told() -> None:
    """A rule's own text is no word of Byteman's, and the rules of another script are another's."""
    assert rules_told(LISTING, "/rules.btm") == {
        "misspelt": "failed: TypeException: invalid field reference a.B .baseOfset line 27",
        "throws": "carried out",
        "waits": "woven in, never reached",
        "no such class": "woven into nothing",
    }
    assert rules_told(LISTING, "kmigrate") == {"held": "woven into nothing"}
    assert rules_told("OK\n", "kmigrate") == {}
