"""Words of a report and what they mean: one list for the page, the terminal and docs/glossary.md."""

GLOSSARY = {
    "admit": "a flaky test that may be relied on again: enough clean runs came since the last violation",
    "clean runs since": "runs without a violation since the last one, and the rate that they still allow at 95 %",
    "conforms": "every check that counts holds",
    "depends on conditions": "a test that passes under some conditions and fails under others, so that it is not flaky",
    "flaky": "now this answer, now that, under equal conditions",
    "inconclusive": "nothing is proved: trouble of the harness or the machine, or no opportunity to violate",
    "known": "a run or check all of whose violations known defects, departures or remarks explain; no red",
    "lift": "how many times more often a failure comes with something than without it",
    "more to claim 1 %": "clean runs that are still needed to claim at 95 % that at most 1 % of runs violate",
    "new violation": "a violation that no known defect, departure or remark explains",
    "not judged": "a requirement that no run could have violated",
    "q": "the share of false alarms if everything down to here were called a cause or a change",
    "quarantine": "a flaky test whose answer should not stop anybody until it is repaired",
    "safety violation": "something wrong was done, such as a lost record; one that is new is never called flaky",
    "set aside": "a file or folder that was not counted, with the reason",
    "shrunk rate": "a rate of violations drawn towards that of similar tests, the more so the fewer its runs",
    "standing": "where a test stands now; what broke or was repaired for good counts from that moment on",
    "undecided": "a flaky test of which there are too few runs to admit it or to quarantine it",
    "violates": "the evidence contradicts a claim",
}
"""Word -> its meaning, sorted by word."""
