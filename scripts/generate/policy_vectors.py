"""A second evaluator of policies, written from Documentation/Formats/policy.md and release.md, and the vectors it makes.

It shares no code with the Swift module and is written for being read, not for speed.  `scripts/generate/policy-vectors` writes
Tests/vectors/*.json with it, which the tests of `DeploymentPolicy` and anybody else's run.
"""

import base64
import copy
import hashlib
import json
import random
import re
import struct

MOST = 2**53 - 1
BUCKETS = 100_000
KINDS = {
    "languageCode": "language", "deviceClass": "word", "operatingSystem": "word", "osVersion": "version",
    "regionCode": "word", "appVersion": "version", "appBuild": "version", "deviceModel": "text", "memory": "number",
    "cores": "number", "accelerator": "word", "freeDisk": "number", "runtimeVersion": "version", "channel": "text",
}
CLASSES = ["phone", "tablet", "desktop", "watch", "tv", "vision", "server"]
ORDER = {"less", "atMost", "atLeast", "greater", "between"}
PARTS = {"startsWith", "endsWith", "contains"}
EQUAL = {"is", "isNot", "in", "notIn"}
FITS = {
    **{name: {"text", "word", "language", "version", "number", "signal"} for name in sorted(EQUAL | {"isPresent"})},
    **{name: {"version", "number", "signal"} for name in sorted(ORDER)},
    **{name: {"text", "word", "signal"} for name in sorted(PARTS)},
    "matches": {"language"},
}
UNKNOWN = "unknown"


class Bad(Exception):
    """An error of a document: its code and the member."""

    def __init__(self, code, path):
        super().__init__(f"{code} at {path}")
        self.code, self.path = code, path


# Text ------------------------------------------------------------------------------------------------------------------

class Fraction:
    """A number that is not whole as documents mean it."""

    def __init__(self, value):
        self.value = value


def parse(data):
    """The JSON value of bytes, or Bad."""
    if len(data) > 1 << 20:
        raise Bad("tooLarge", "")

    def members(pairs):
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("twice")
        return dict(pairs)

    def whole(text):
        value = int(text)
        return Fraction(float(text)) if text == "-0" or not -2**63 <= value < 2**63 else value

    def fraction(text):
        value = float(text)
        if value in (float("inf"), float("-inf")):
            raise ValueError("large")
        return Fraction(value)

    def constant(text):
        raise ValueError(text)

    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            raise ValueError("mark")
        value = json.loads(text, object_pairs_hook=members, parse_int=whole, parse_float=fraction, parse_constant=constant)
        check_nesting(value, 0)
        return value
    except (ValueError, RecursionError):
        raise Bad("malformed", "") from None


def check_nesting(value, depth):
    if depth > 63:
        raise ValueError("deep")
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, list):
        for element in value:
            check_nesting(element, depth + 1)
    elif isinstance(value, dict):
        for name, element in value.items():
            name.encode("utf-8")
            check_nesting(element, depth + 1)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def number_of_text(text):
    """The double of a decimal, or None."""
    if len(text.encode()) > 32 or not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", text, re.ASCII):
        return None
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else value


# Versions --------------------------------------------------------------------------------------------------------------

def version(text):
    """What versions are compared by, or None: numbers, and runs of what marks an earlier one."""
    if len(text.encode("utf-8", "surrogatepass")) > 128:
        return None
    match = re.fullmatch(r"([0-9]{1,18}(?:\.[0-9]{1,18}){0,15})(?:([A-Za-z-][A-Za-z0-9.-]*))?(?:\+([A-Za-z0-9.-]+))?", text, re.ASCII)
    if not match:
        return None
    numbers = [int(part) for part in match.group(1).split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    mark = match.group(2)
    if mark is None:
        return numbers, None
    runs = re.findall(r"[0-9]+|[A-Za-z]+", mark)
    if not runs or any(run.isdigit() and len(run) > 18 for run in runs):
        return None
    return numbers, [(0, int(run), "") if run.isdigit() else (1, 0, run.lower()) for run in runs]


def version_order(a, b):
    """-1, 0 or 1."""
    if a[0] != b[0]:
        return -1 if a[0] < b[0] else 1
    if a[1] == b[1]:
        return 0
    if a[1] is None:
        return 1
    if b[1] is None:
        return -1
    return -1 if a[1] < b[1] else 1


class Version:
    def __init__(self, text):
        self.key = version(text)

    def __eq__(self, other):
        return version_order(self.key, other.key) == 0

    def __lt__(self, other):
        return version_order(self.key, other.key) < 0

    def __le__(self, other):
        return version_order(self.key, other.key) <= 0


# Buckets ---------------------------------------------------------------------------------------------------------------

def digest(install_id, salt):
    return hashlib.sha256(install_id.encode() + salt.encode()).digest()


def bucket(install_id, salt):
    return struct.unpack(">Q", digest(install_id, salt)[:8])[0] % BUCKETS


def member(install_id, salt):
    return digest(install_id, salt)[:16].hex()


# Conditions ------------------------------------------------------------------------------------------------------------

def lower(text):
    return re.sub("[A-Z]", lambda match: match.group().lower(), text)


def normal(text, kind):
    if kind in ("word", "language"):
        text = lower(text)
    return (text.replace("_", "-") if kind == "language" else text).encode()


def kind_of(name):
    return "signal" if name.startswith("custom.") else KINDS[name]


def device_value(device, name):
    """A device's value, or None."""
    if name.startswith("custom."):
        return device.get("custom", {}).get(name[len("custom."):])
    return device.get(name)


def install_id(device):
    text = device.get("installID")
    return text if text and len(text.encode()) <= 128 else None


def literal(value):
    """A value of a comparison: text, truth value or float."""
    if isinstance(value, dict):
        return number_of_text(value["decimal"])
    return value if isinstance(value, (bool, str)) else float(value)


def compare(attribute, operator, values, device):
    """True, False or UNKNOWN."""
    has = device_value(device, attribute)
    if operator == "isPresent":
        return (has is not None) == values[0]
    if has is None:
        return UNKNOWN
    kind, values = kind_of(attribute), [literal(value) for value in values]
    if kind == "version":
        has, values = Version(has), [Version(value) for value in values]
    elif isinstance(has, bool) or isinstance(values[0], bool):
        if not (isinstance(has, bool) and isinstance(values[0], bool)):
            return UNKNOWN
    elif isinstance(has, str) != isinstance(values[0], str):
        return UNKNOWN
    elif isinstance(has, str):
        has, values = normal(has, kind), [normal(value, kind) for value in values]
    else:
        has = float(has)
    equal = any(has == value for value in values)
    answers = {
        "is": lambda: equal, "in": lambda: equal, "isNot": lambda: not equal, "notIn": lambda: not equal,
        "less": lambda: has < values[0], "atMost": lambda: has <= values[0],
        "greater": lambda: values[0] < has, "atLeast": lambda: values[0] <= has,
        "between": lambda: values[0] <= has and has <= values[-1],
        "startsWith": lambda: any(has.startswith(value) for value in values),
        "endsWith": lambda: any(has.endswith(value) for value in values),
        "contains": lambda: any(value in has for value in values),
        "matches": lambda: any(value == b"*" or has == value or has.startswith(value + b"-") for value in values),
    }
    return bool(answers[operator]())


def truth(condition, device, segments, newer=False):
    """True, False or UNKNOWN."""
    if newer and not readable(condition):
        return UNKNOWN
    if "all" in condition:
        answers = [truth(part, device, segments, newer) for part in condition["all"]]
        return False if False in answers else UNKNOWN if UNKNOWN in answers else True
    if "any" in condition:
        answers = [truth(part, device, segments, newer) for part in condition["any"]]
        return True if True in answers else UNKNOWN if UNKNOWN in answers else False
    if "not" in condition:
        answer = truth(condition["not"], device, segments, newer)
        return UNKNOWN if answer == UNKNOWN else not answer
    identity = install_id(device)
    if "segment" in condition:
        segment = next(segment for segment in segments if segment["name"] == condition["segment"])
        return UNKNOWN if identity is None else member(identity, segment["salt"]) in segment["members"]
    if "percentage" in condition:
        span = condition["percentage"]
        if identity is None:
            return UNKNOWN
        return span.get("from", 0) <= bucket(identity, span["salt"]) < span["below"]
    return compare(condition["attribute"], condition["operator"], condition["values"], device)


def readable(condition):
    """Whether this evaluator knows the condition, leaving aside those inside it."""
    shallow = condition
    if isinstance(condition, dict):
        for name in ("all", "any"):
            if isinstance(condition.get(name), list):
                shallow = {**condition, name: []}
        if isinstance(condition.get("not"), (dict, list, str, int)):
            shallow = {**condition, "not": {"all": []}}
    try:
        check_condition(shallow, "", 1, None, [0])
        return True
    except Bad:
        return False


# Evaluation ------------------------------------------------------------------------------------------------------------

def shares(serving):
    before = 0
    for split in serving["splits"]:
        yield split["below"] - before, split["serve"]
        before = split["below"]


def serve(serving, device):
    """(what is named, bucket), or None where buckets decide and there is none."""
    outcomes = [outcome for share, outcome in shares(serving) if share > 0]
    if all(outcome == outcomes[0] for outcome in outcomes):
        return outcomes[0], None
    if install_id(device) is None:
        return None
    number = bucket(install_id(device), serving["salt"])
    return next(split["serve"] for split in serving["splits"] if number < split["below"]), number


def rule_is_readable(rule):
    try:
        expect(rule, "", ["id", "note", "when", "serve"])
        if "note" in rule:
            string(rule["note"], "")
        need(rule, "", "when")
        check_serving_shape(need(rule, "", "serve"), "")
        return True
    except Bad:
        return False


def evaluate(policy, device):
    result = {"outcome": "bundled", "named": "bundled", "rule": None, "bucket": None, "refusal": None}
    newer = policy.get("evaluator", 1) > 1
    rules = policy.get("rules", [])
    result["truths"] = [
        spell(UNKNOWN if newer and not rule_is_readable(rule) else truth(rule["when"], device, policy.get("segments", []), newer))
        for rule in rules
    ]
    if policy["state"] != "active":
        word = "keep" if policy["state"] == "paused" else "bundled"
        return {**result, "outcome": word, "named": word, "source": policy["state"]}
    result["source"] = "default"
    found = None
    for rule, answer in zip(rules, result["truths"]):
        if answer == "true" and (found := serve(rule["serve"], device)) is not None:
            result.update(source="rule", rule=rule["id"])
            break
    else:
        found = serve(policy["default"], device)
    if found is None:
        return {**result, "refusal": "installID"}
    named, number = found
    result.update(named=named, outcome=named, bucket=number)
    if isinstance(named, int):
        release = next(release for release in policy["releases"] if release["number"] == named)
        minimum, runtime = release.get("minimumRuntime"), device.get("runtimeVersion")
        if release["counter"] < policy.get("minimumCounter", 0):
            result.update(outcome="bundled", refusal="floor")
        elif minimum is not None and (runtime is None or Version(runtime) < Version(minimum)):
            result.update(outcome="bundled", refusal="runtime")
    return result


def spell(answer):
    return answer if answer == UNKNOWN else "true" if answer else "false"


# Checking documents ----------------------------------------------------------------------------------------------------

def join(path, name):
    return f"{path}.{name}" if path else name


def expect(value, path, names):
    if not isinstance(value, dict):
        raise Bad("wrongType", path)
    for name in value:
        if name not in names:
            raise Bad("unknownMember", join(path, name))


def need(value, path, name):
    if not isinstance(value, dict):
        raise Bad("wrongType", path)
    if name not in value:
        raise Bad("missingMember", join(path, name))
    return value[name]


def string(value, path):
    if not isinstance(value, str):
        raise Bad("wrongType", path)
    return value


def text(value, path, most=1024, lines=False):
    string(value, path)
    allowed = "\n\t" if lines else ""
    if not 1 <= len(value.encode()) <= most or any((ord(c) < 32 or ord(c) == 127) and c not in allowed for c in value):
        raise Bad("badText", path)
    return value


def pattern(value, path, expression):
    string(value, path)
    if not re.fullmatch(expression, value, re.ASCII):
        raise Bad("badText", path)
    return value


def name(value, path, most=64):
    return pattern(value, path, "[A-Za-z0-9._-]{1,%d}" % most)


def app(value, path):
    return pattern(value, path, "[a-z0-9-]{1,64}")


def collection(value, path):
    if name(value, path, 128) in (".", ".."):
        raise Bad("badText", path)


def whole(value, path):
    if isinstance(value, bool) or not isinstance(value, int):
        raise Bad("wrongType", path)
    return value


def integer(value, path, least, most=MOST):
    if not least <= whole(value, path) <= most:
        raise Bad("outOfRange", path)
    return value


def listed(value, path, most):
    if not isinstance(value, list):
        raise Bad("wrongType", path)
    if len(value) > most:
        raise Bad("tooMany", path)
    return value


def date(value, path):
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z", string(value, path), re.ASCII)
    if not match:
        raise Bad("badDate", path)
    year, month, day, hour, minute, second = map(int, match.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if not (1 <= month <= 12 and 1 <= day <= days[month - 1] and hour < 24 and minute < 60 and second < 60):
        raise Bad("badDate", path)
    return value


def a_version(value, path):
    if version(string(value, path)) is None:
        raise Bad("badVersion", path)


def hexadecimal(value, path, count):
    if not re.fullmatch("[0-9a-f]{%d}" % (2 * count), string(value, path), re.ASCII):
        raise Bad("badHash", path)
    return value


def decimal(value, path):
    if isinstance(value, str):
        if number_of_text(value) is None:
            raise Bad("badText", path)
        return number_of_text(value)
    if abs(whole(value, path)) > MOST:
        raise Bad("outOfRange", path)
    return float(value)


def check_value(value, path, attribute, operator):
    """A value of a comparison; its type."""
    kind = kind_of(attribute)
    if operator == "isPresent":
        if not isinstance(value, bool):
            raise Bad("wrongType", path)
        return "flag"
    if kind == "signal":
        if isinstance(value, str):
            kind = "text"
        elif isinstance(value, bool):
            kind = "flag"
        else:
            kind = "number"
        if kind != "number" and operator in ORDER or kind != "text" and operator in PARTS:
            if kind != "number" or isinstance(value, (int, dict)):
                raise Bad("wrongType", path)
    if kind == "flag":
        return kind
    if kind == "version":
        a_version(value, path)
    elif kind == "number":
        if isinstance(value, dict):
            expect(value, path, ["decimal"])
            decimal(string(need(value, path, "decimal"), join(path, "decimal")), join(path, "decimal"))
        else:
            decimal(whole(value, path), path)
    else:
        text(value, path)
        if attribute == "deviceClass" and operator in EQUAL and value not in CLASSES:
            raise Bad("outOfRange", path)
        if kind == "language" and not (re.fullmatch("[A-Za-z0-9-]{1,64}", value, re.ASCII) or operator == "matches" and value == "*"):
            raise Bad("badText", path)
    return kind


def check_comparison(condition, path):
    expect(condition, path, ["attribute", "operator", "values"])
    attribute = string(condition["attribute"], join(path, "attribute"))
    if attribute not in KINDS and not re.fullmatch(r"custom\.[A-Za-z0-9._-]{1,64}", attribute, re.ASCII):
        raise Bad("unknownAttribute", join(path, "attribute"))
    operator = string(need(condition, path, "operator"), join(path, "operator"))
    if operator not in FITS:
        raise Bad("unknownOperator", join(path, "operator"))
    if kind_of(attribute) not in FITS[operator]:
        raise Bad("unfitOperator", join(path, "operator"))
    values = listed(need(condition, path, "values"), join(path, "values"), 200)
    many = operator in PARTS or operator in ("in", "notIn", "matches")
    if not (1 <= len(values) if many else len(values) == (2 if operator == "between" else 1)):
        raise Bad("badValues", join(path, "values"))
    types = [check_value(value, f"{path}.values[{i}]" if path else f"values[{i}]", attribute, operator) for i, value in enumerate(values)]
    if len(set(types)) > 1:
        raise Bad("badValues", join(path, "values"))
    if operator == "between":
        low, high = (Version(value) if types[0] == "version" else literal(value) for value in values)
        if not low <= high:
            raise Bad("badValues", join(path, "values"))


def check_condition(condition, path, depth, segments, count, newer=False):
    if depth > 16:
        raise Bad("tooDeep", path)
    count[0] += 1
    if count[0] > 5000:
        raise Bad("tooMany", path)
    if newer and not readable(condition):
        return
    if not isinstance(condition, dict):
        raise Bad("wrongType", path)
    if "attribute" in condition:
        return check_comparison(condition, path)
    if len(condition) != 1:
        raise Bad("unknownMember" if condition else "missingMember", path)
    kind, value = next(iter(condition.items()))
    inner = join(path, kind)
    if kind in ("all", "any"):
        for i, part in enumerate(listed(value, inner, MOST)):
            check_condition(part, f"{inner}[{i}]", depth + 1, segments, count, newer)
    elif kind == "not":
        check_condition(value, inner, depth + 1, segments, count, newer)
    elif kind == "segment":
        if string(value, inner) not in (segments if segments is not None else [value]):
            raise Bad("unknownSegment", inner)
    elif kind == "percentage":
        expect(value, inner, ["salt", "from", "below"])
        text(need(value, inner, "salt"), join(inner, "salt"), 128)
        least = integer(value.get("from", 0), join(inner, "from"), 0, BUCKETS)
        integer(need(value, inner, "below"), join(inner, "below"), least, BUCKETS)
    else:
        raise Bad("unknownMember", inner)


def check_serving_shape(serving, path):
    """What members there are, and of what types."""
    expect(serving, path, ["salt", "splits"])
    for i, split in enumerate(listed(need(serving, path, "splits"), join(path, "splits"), 100)):
        place = f"{join(path, 'splits')}[{i}]"
        expect(split, place, ["below", "serve"])
        whole(need(split, place, "below"), join(place, "below"))
        outcome = need(split, place, "serve")
        if isinstance(outcome, str):
            if outcome not in ("bundled", "holdout", "keep"):
                raise Bad("outOfRange", join(place, "serve"))
        else:
            whole(outcome, join(place, "serve"))
    string(need(serving, path, "salt"), join(path, "salt"))


def check_serving(serving, path, releases, lenient=False):
    if not lenient:
        check_serving_shape(serving, path)
    text(serving["salt"], join(path, "salt"), 128)
    before = 0
    for i, split in enumerate(serving["splits"]):
        place = f"{join(path, 'splits')}[{i}]"
        if not before <= split["below"] <= BUCKETS:
            raise Bad("badSplit", join(place, "below"))
        before = split["below"]
        if isinstance(split["serve"], int) and split["serve"] not in releases:
            raise Bad("unknownRelease", join(place, "serve"))
    if before != BUCKETS:
        raise Bad("badSplit", join(path, "splits"))


MEMBERS = [
    "_type", "spec_version", "version", "issued", "expires", "app", "environment", "collection", "deployment", "state",
    "evaluator", "rules", "default", "releases", "segments", "minimumCounter", "poll", "reporting",
]


def check_policy(policy):
    """Raises Bad where a policy is not sound."""
    if string(need(policy, "", "_type"), "_type") != "policy":
        raise Bad("unsupported", "_type")
    spec = version(string(need(policy, "", "spec_version"), "spec_version"))
    if spec is None or spec[1] is not None or spec[0][:1] != [1]:
        raise Bad("unsupported", "spec_version")
    newer = whole(policy.get("evaluator", 1), "evaluator") > 1

    def known(value, path, names):
        expect(value, path, list(value) if newer and isinstance(value, dict) else names)

    known(policy, "", MEMBERS)
    integer(need(policy, "", "version"), "version", 1)
    if not date(need(policy, "", "issued"), "issued") < date(need(policy, "", "expires"), "expires"):
        raise Bad("outOfRange", "expires")
    app(need(policy, "", "app"), "app")
    app(need(policy, "", "environment"), "environment")
    collection(need(policy, "", "collection"), "collection")
    name(need(policy, "", "deployment"), "deployment", 128)
    if string(need(policy, "", "state"), "state") not in ("active", "paused", "halted"):
        raise Bad("outOfRange", "state")
    integer(policy.get("evaluator", 1), "evaluator", 1)
    integer(policy.get("minimumCounter", 0), "minimumCounter", 0)
    numbers = check_releases(policy, known)
    segments = check_segments(policy, known)
    count, ids = [0], set()
    for i, rule in enumerate(listed(policy.get("rules", []), "rules", 200)):
        path = f"rules[{i}]"
        identity = name(need(rule, path, "id"), f"{path}.id")
        if identity in ids:
            raise Bad("duplicate", f"{path}.id")
        ids.add(identity)
        if newer and not rule_is_readable(rule):
            count[0] += 1
            continue
        expect(rule, path, ["id", "note", "when", "serve"])
        if "note" in rule:
            text(rule["note"], f"{path}.note")
        check_condition(need(rule, path, "when"), f"{path}.when", 1, segments, count, newer)
        check_serving(need(rule, path, "serve"), f"{path}.serve", numbers)
    check_serving(need(policy, "", "default"), "default", numbers, lenient=newer)
    poll = policy.get("poll", {"interval": 21600})
    known(poll, "poll", ["interval", "brownOut"])
    integer(need(poll, "poll", "interval"), "poll.interval", 300, 2_592_000)
    if "brownOut" in poll:
        known(poll["brownOut"], "poll.brownOut", ["interval", "until"])
        integer(need(poll["brownOut"], "poll.brownOut", "interval"), "poll.brownOut.interval", 300, 2_592_000)
        date(need(poll["brownOut"], "poll.brownOut", "until"), "poll.brownOut.until")
    if "reporting" in policy:
        known(policy["reporting"], "reporting", ["path", "sampleRate"])
        path = text(need(policy["reporting"], "reporting", "path"), "reporting.path")
        if not re.fullmatch(r"/(?!/)[\x21-\x5b\x5d-\x7e]*", path, re.ASCII):
            raise Bad("badText", "reporting.path")
        integer(need(policy["reporting"], "reporting", "sampleRate"), "reporting.sampleRate", 0, BUCKETS)


def check_releases(policy, known):
    numbers = set()
    for i, release in enumerate(listed(policy.get("releases", []), "releases", 200)):
        path = f"releases[{i}]"
        known(release, path, ["number", "counter", "target", "sha256", "length", "minimumRuntime"])
        number = integer(need(release, path, "number"), f"{path}.number", 1)
        integer(need(release, path, "counter"), f"{path}.counter", 1)
        target = string(need(release, path, "target"), f"{path}.target")
        if target != f"apps/{policy['app']}/collections/{policy['collection']}/{number}.json":
            raise Bad("mismatch", f"{path}.target")
        hexadecimal(need(release, path, "sha256"), f"{path}.sha256", 32)
        integer(need(release, path, "length"), f"{path}.length", 1, 1 << 20)
        if "minimumRuntime" in release:
            a_version(release["minimumRuntime"], f"{path}.minimumRuntime")
        if number in numbers:
            raise Bad("duplicate", f"{path}.number")
        numbers.add(number)
    return numbers


def check_segments(policy, known):
    names, members = set(), 0
    for i, segment in enumerate(listed(policy.get("segments", []), "segments", 50)):
        path = f"segments[{i}]"
        known(segment, path, ["name", "salt", "members"])
        identity = name(need(segment, path, "name"), f"{path}.name")
        text(need(segment, path, "salt"), f"{path}.salt", 128)
        if identity in names:
            raise Bad("duplicate", f"{path}.name")
        names.add(identity)
        seen = set()
        for j, one in enumerate(listed(need(segment, path, "members"), f"{path}.members", 20_000)):
            if hexadecimal(one, f"{path}.members[{j}]", 16) in seen:
                raise Bad("duplicate", f"{path}.members[{j}]")
            seen.add(one)
        members += len(seen)
        if members > 20_000:
            raise Bad("tooMany", f"{path}.members")
    return names


def check_blob(value, path, besides=()):
    expect(value, path, ["sha256", "length", *besides])
    hexadecimal(need(value, path, "sha256"), f"{path}.sha256", 32)
    integer(need(value, path, "length"), f"{path}.length", 1)


def check_release(release):
    """Raises Bad where a release document is not sound."""
    if whole(need(release, "", "format"), "format") != 1:
        raise Bad("unsupported", "format")
    expect(release, "", ["format", "app", "collection", "number", "counter", "created", "minimumRuntime", "models", "notes", "metrics", "annotations"])
    app(need(release, "", "app"), "app")
    collection(need(release, "", "collection"), "collection")
    integer(need(release, "", "number"), "number", 1)
    integer(need(release, "", "counter"), "counter", 1)
    date(need(release, "", "created"), "created")
    if "minimumRuntime" in release:
        a_version(release["minimumRuntime"], "minimumRuntime")
    models = listed(need(release, "", "models"), "models", 200)
    if not models:
        raise Bad("badValues", "models")
    names = set()
    for i, model in enumerate(models):
        path = f"models[{i}]"
        check_model(model, path)
        if lower(model["name"]) in names:
            raise Bad("duplicate", f"{path}.name")
        names.add(lower(model["name"]))
    if "notes" in release:
        text(release["notes"], "notes", 16_384, lines=True)
    for i, metric in enumerate(listed(release.get("metrics", []), "metrics", 200)):
        path = f"metrics[{i}]"
        expect(metric, path, ["name", "value", "model"])
        text(need(metric, path, "name"), f"{path}.name", 128)
        decimal(need(metric, path, "value"), f"{path}.value")
        if "model" in metric and string(metric["model"], f"{path}.model") not in [model["name"] for model in models]:
            raise Bad("mismatch", f"{path}.model")
    annotations = release.get("annotations", {})
    if not isinstance(annotations, dict):
        raise Bad("wrongType", "annotations")
    if len(annotations) > 64:
        raise Bad("tooMany", "annotations")
    for key in sorted(annotations):
        string(annotations[key], f"annotations.{key}")
        name(key, f"annotations.{key}", 128)
        text(annotations[key], f"annotations.{key}")


def check_model(model, path):
    expect(model, path, ["name", "archive", "version", "encryption", "selfTest", "deltas"])
    title = text(need(model, path, "name"), f"{path}.name", 128)
    if "/" in title or "\\" in title or title.startswith("."):
        raise Bad("badText", f"{path}.name")
    check_blob(need(model, path, "archive"), f"{path}.archive")
    if "version" in model:
        text(model["version"], f"{path}.version", 128)
    if "encryption" in model:
        inner = f"{path}.encryption"
        expect(model["encryption"], inner, ["keyID", "team"])
        hexadecimal(need(model["encryption"], inner, "keyID"), f"{inner}.keyID", 16)
        text(need(model["encryption"], inner, "team"), f"{inner}.team", 200)
    if "selfTest" in model:
        inner = f"{path}.selfTest"
        check_blob(model["selfTest"], inner, ["tolerance", "slowdown"])
        if "tolerance" in model["selfTest"] and decimal(model["selfTest"]["tolerance"], f"{inner}.tolerance") < 0:
            raise Bad("outOfRange", f"{inner}.tolerance")
        if "slowdown" in model["selfTest"] and decimal(model["selfTest"]["slowdown"], f"{inner}.slowdown") < 1:
            raise Bad("outOfRange", f"{inner}.slowdown")
    sources = set()
    for i, delta in enumerate(listed(model.get("deltas", []), f"{path}.deltas", 32)):
        inner = f"{path}.deltas[{i}]"
        check_blob(delta, inner, ["from"])
        if hexadecimal(need(delta, inner, "from"), f"{inner}.from", 32) in sources:
            raise Bad("duplicate", f"{inner}.from")
        sources.add(delta["from"])
