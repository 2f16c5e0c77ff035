"""Outcomes of a group of tests, held against the list of its expected failures.

A line of a list is `test | reason`; `*` in the test's name stands for anything.  A failure that no line names is an
error, and so is a line with a test that passed, or that is not in the suite.
"""
import dataclasses
import json
import re


def outcomes(path):
    """Test → its last outcome; of a test that both passed and failed in tearing down, the failure."""
    entries = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        entry = json.loads(line)
        entries[entry["test"]] = entry
    return entries


def expectations(path):
    """Name or pattern → reason."""
    if not path.exists():
        return {}
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.rsplit(" | ", 1) for line in lines)


def members(pattern, names):
    """The names that a line stands for."""
    if "*" not in pattern:
        return {pattern} & names
    form = re.compile(".*".join(map(re.escape, pattern.split("*"))))
    return {name for name in names if form.fullmatch(name)}


@dataclasses.dataclass
class Verdict:
    """The outcome of a group."""
    ran: dict
    expected: dict
    collected: set

    def __post_init__(self):
        names = set(self.ran)
        self.failed = {test for test, entry in self.ran.items() if entry["outcome"] == "failed"}
        self.passed = {test for test, entry in self.ran.items() if entry["outcome"] == "passed"}
        self.reached = {test for test, entry in self.ran.items() if "predict" in entry["reached"]}
        lines = {pattern: members(pattern, names) for pattern in self.expected}
        foreseen = set().union(*lines.values()) if lines else set()
        self.new = sorted(self.failed - foreseen)
        self.healed = sorted(foreseen & self.passed)
        self.unknown = sorted(
            pattern for pattern, tests in lines.items()
            if not tests and self.collected and not members(pattern, self.collected | names))

    @property
    def right(self):
        return bool(self.ran) and not (self.new or self.healed or self.unknown)

    def report(self, group):
        print(
            f"{group}: {len(self.ran)} of {len(self.collected) or '?'} ran, {len(self.reached)} reached a prediction; "
            f"{len(self.passed)} passed, {len(self.failed)} failed, "
            f"{len(self.ran) - len(self.passed) - len(self.failed)} skipped by the suite")
        for test in self.new:
            print(f"NEW FAILURE  {test}\n             {self.ran[test]['why']}")
        for test in self.healed:
            print(f"HEALED       {test}: strike its line from expected-failures/{group}.txt")
        for test in self.unknown:
            print(f"NO SUCH TEST {test}: strike or correct its line in expected-failures/{group}.txt")
        if not self.ran:
            print(f"{group}: nothing ran")


def write_expectations(path, group, verdict):
    """The list anew: lines that still fail keep their reasons, new failures get the test's words."""
    kept = {
        pattern: reason for pattern, reason in verdict.expected.items()
        if pattern not in verdict.unknown and not members(pattern, verdict.passed)}
    for test in verdict.failed - set().union(*(members(pattern, verdict.failed) for pattern in kept)):
        words = re.sub(r"/[^ :|]*/\w+\.ml\w+", "the model", verdict.ran[test]["why"])       # temporary folders
        kept[test] = verdict.expected.get(test) or words.replace(" | ", " / ")
    text = f"# Tests of the group '{group}' that are known to fail: test | reason\n"
    path.write_text(text + "".join(f"{test} | {reason}\n" for test, reason in sorted(kept.items())))
    print(f"{path.name}: {len(kept)} lines")
