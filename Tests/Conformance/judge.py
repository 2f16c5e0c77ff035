"""Compares the outcomes of a group with its list of expected failures.

    judge.py OUTCOMES EXPECTED [--update]

A line of the list is `test | reason`.  A failure that is not on the list fails, and so does a line whose test passed
or did not run.  With --update the list is written anew: kept lines keep their reasons, new ones get the test's words.
"""
import json
import pathlib
import re
import sys


def expectations(path):
    """Test → reason."""
    if not path.exists():
        return {}
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.rsplit(" | ", 1) for line in lines)


def main():
    outcomes_path, expected_path = map(pathlib.Path, sys.argv[1:3])
    outcomes = {}
    for line in outcomes_path.read_text().splitlines():
        entry = json.loads(line)
        entry["why"] = re.sub(r"/[^ :|]*/\w+\.ml\w+", "the model", entry["why"])      # temporary folders
        if outcomes.get(entry["test"], {}).get("outcome") != "failed":
            outcomes[entry["test"]] = entry
    expected = expectations(expected_path)
    failed = {test: entry["why"] for test, entry in outcomes.items() if entry["outcome"] == "failed"}
    passed = sum(entry["outcome"] == "passed" for entry in outcomes.values())
    skipped = len(outcomes) - passed - len(failed)
    group = expected_path.stem
    print(f"{group}: {passed} passed, {len(failed)} failed, {skipped} skipped by the suite")

    if "--update" in sys.argv:
        lines = [f"{test} | {expected.get(test) or why.replace(' | ', ' / ')}" for test, why in sorted(failed.items())]
        expected_path.write_text(
            f"# Tests of the group '{group}' that are known to fail: test | reason\n" + "".join(f"{l}\n" for l in lines))
        print(f"{expected_path.name}: {len(lines)} lines")
        return
    new = {test: why for test, why in failed.items() if test not in expected}
    healed = [test for test in expected if outcomes.get(test, {}).get("outcome") == "passed"]
    gone = [test for test in expected if outcomes.get(test, {}).get("outcome") not in ("passed", "failed")]
    for test, why in new.items():
        print(f"NEW FAILURE  {test}\n             {why}")
    for test in healed:
        print(f"HEALED       {test}: strike its line from {expected_path.name}")
    for test in gone:
        print(f"DID NOT RUN  {test}: strike or correct its line in {expected_path.name}")
    if not outcomes:
        print(f"{group}: nothing ran")
    sys.exit(1 if new or healed or gone or not outcomes else 0)


if __name__ == "__main__":
    main()
