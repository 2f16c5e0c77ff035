"""Made-up TUF repositories and what becomes of them: updates, rotations, mistakes and attacks.

A `Repository` holds what its publisher knows and what its server serves.  `served` maps the names of metadata files to bytes;
an attack changes a copy of it.  Everything follows from the `random.Random` that is passed in.
"""
import copy
import datetime
import hashlib
import json
import urllib.parse

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.formats import encode_canonical
from securesystemslib.signer import CryptoSigner, SSlibKey
from tuf.api.metadata import (
    DelegatedRole, Delegations, Metadata, MetaFile, Root, Snapshot, TargetFile, Targets, Timestamp)
from tuf.api.serialization.json import JSONSerializer

UTC = datetime.timezone.utc
START = datetime.datetime(2027, 1, 1, tzinfo=UTC)
TOP = ["root", "timestamp", "snapshot", "targets"]
# Composed and decomposed letters, signs that look like letters, and characters that patterns and URLs know.
PATHS = [
    "a.txt", "b.txt", "K/a.txt", "\u212a/a.txt", "dir/a.txt", "dir/b.bin", "dir/sub/a.txt", "dir/sub/é.txt",
    "dir/sub/e\u0301.txt", "x/[odd].txt", "x/a-b.txt", "x/!.txt", "x/^.txt", "x/%41.txt", "x/ .txt", "y/1/2/3", "missing"]
PATTERNS = [
    "*", "*.txt", "dir/*", "dir/*.txt", "dir/?.txt", "dir/sub/*", "*/*", "*/*/*", "x/[!a]*", "x/[[]odd].txt", "x/[a-c]*",
    "x/[c-a]*", "x/[]!^-]*", "x/[a-c-]*", "x/[!]a]*", "x/[", "x/[!", "K/*", "dir/sub/?.txt", "[ab].txt", "**.txt", "y/*/*/*",
    "x/[\\]^]*", "x/[--a]*", "x/%41.txt"]


class Keys:
    """Private keys, made once: making them takes long.  Those of RSA are other ones in each run."""

    def __init__(self):
        self.pools = {
            "ed25519": [self.signer(Ed25519PrivateKey.from_private_bytes(self.seed(n))) for n in range(48)],
            "ecdsa": [self.signer(ec.derive_private_key(int.from_bytes(self.seed(n)[1:]), ec.SECP256R1())) for n in range(16)],
            "rsa": [CryptoSigner.generate_rsa() for _ in range(3)],
        }

    @staticmethod
    def seed(number):
        return hashlib.sha256(f"key {number}".encode()).digest()

    @staticmethod
    def signer(private):
        return CryptoSigner(private, SSlibKey.from_crypto(private.public_key()))

    def draw(self, rng):
        kind = rng.choices(["ed25519", "ecdsa", "rsa"], [16, 3, 1])[0]
        return rng.choice(self.pools[kind])


def file_name(role, version, consistent):
    name = urllib.parse.quote(role, "") + ".json"
    return f"{version}.{name}" if consistent else name


def dumped(rng, metadata):
    return metadata.to_bytes(JSONSerializer(compact=rng.random() < 0.5))


class Repository:
    def __init__(self, rng, keys):
        self.rng, self.keys = rng, keys
        self.now = START
        self.served, self.files = {}, {}
        self.documents, self.signers, self.history = {}, {}, {}
        self.describes_files = rng.random() < 0.5
        self.documents["root"] = Metadata(Root(expires=self.soon(400), consistent_snapshot=rng.random() < 0.75))
        self.documents["timestamp"] = Metadata(Timestamp(expires=self.soon(2)))
        self.documents["snapshot"] = Metadata(Snapshot(expires=self.soon(8)))
        self.documents["targets"] = Metadata(Targets(expires=self.soon(60)))
        for role in TOP:
            self.give_keys(role)
        for role in ["root", "targets", "snapshot", "timestamp"]:
            self.publish(role, bump=False)
        self.first_root = self.served["1.root.json"]

    # Publisher

    @property
    def root(self):
        return self.documents["root"].signed

    @property
    def consistent(self):
        return self.root.consistent_snapshot

    def soon(self, days):
        return self.now + datetime.timedelta(days=self.rng.randint(1, days), seconds=self.rng.randint(0, 86399))

    def delegators(self, role):
        return [
            document.signed for document in self.documents.values()
            if isinstance(document.signed, Targets) and document.signed.delegations
            and role in document.signed.delegations.roles]

    def give_keys(self, role):
        """New keys for a role; for a delegated one in all roles that delegate to it."""
        count = self.rng.choices([1, 2, 3], [6, 2, 1])[0]
        signers = {}
        while len(signers) < count:
            signer = self.keys.draw(self.rng)
            signers[signer.public_key.keyid] = signer
        threshold = self.rng.randint(1, count)
        for holder in [self.root] if role in TOP else self.delegators(role):
            entry = (holder.roles if role in TOP else holder.delegations.roles)[role]
            for keyid in list(entry.keyids):
                holder.revoke_key(keyid, role)
            for signer in signers.values():
                holder.add_key(signer.public_key, role)
            entry.threshold = threshold
        self.signers[role] = list(signers.values())

    def threshold(self, role):
        if role in TOP:
            return self.root.roles[role].threshold
        holders = self.delegators(role)
        return holders[0].delegations.roles[role].threshold if holders else 1

    def enough_signers(self, role):
        least = self.threshold(role)
        signers = self.signers[role]
        return self.rng.sample(signers, self.rng.randint(min(least, len(signers)), len(signers)))

    def publish(self, role, bump=True, signers=None):
        document = self.documents[role]
        if bump:
            document.signed.version += 1
        if role == "snapshot":
            document.signed.meta = {
                f"{name}.json": self.described(name) for name in self.documents if name not in TOP[:3]}
        if role == "timestamp":
            document.signed.snapshot_meta = self.described("snapshot")
        document.signatures.clear()
        for signer in self.enough_signers(role) if signers is None else signers:
            document.sign(signer, append=True)
        self.serve(role, dumped(self.rng, document))

    def serve(self, role, data):
        version = self.documents[role].signed.version
        self.history.setdefault(role, []).append((version, data))
        if role == "root":
            self.served[f"{version}.root.json"] = data
        elif role == "timestamp":
            self.served["timestamp.json"] = data
        else:
            self.served[file_name(role, version, True)] = data
            self.served[file_name(role, version, False)] = data

    def described(self, role):
        version = self.documents[role].signed.version
        data = self.history[role][-1][1] if role in self.history else b""
        if not self.describes_files or self.rng.random() < 0.1:
            return MetaFile(version)
        return MetaFile.from_data(version, data, self.rng.choice([["sha256"], ["sha512"], ["sha256", "sha384"]]))

    def publish_all(self, *roles):
        for role in [*roles, "snapshot", "timestamp"]:
            self.publish(role)

    # Actions of publishers

    def op_timestamp(self):
        self.documents["timestamp"].signed.expires = self.soon(3)
        self.publish("timestamp")

    def op_snapshot(self):
        self.documents["snapshot"].signed.expires = self.soon(10)
        self.documents["timestamp"].signed.expires = self.soon(3)
        self.publish_all()

    def op_targets(self):
        role = self.rng.choice([name for name in self.documents if name not in TOP[:3]])
        targets = self.documents[role].signed
        targets.expires = self.soon(60)
        path = self.rng.choice(PATHS[:-1])
        if path in targets.targets and self.rng.random() < 0.3:
            del targets.targets[path]
        else:
            self.add_target(targets, path)
        self.documents["timestamp"].signed.expires = self.soon(3)
        self.publish_all(role)

    def add_target(self, targets, path):
        data = self.rng.randbytes(self.rng.randint(0, 40))
        algorithms = self.rng.choice([["sha256"], ["sha512"], ["sha512", "sha256"], ["sha384"]])
        target = TargetFile.from_data(path, data, algorithms)
        if self.rng.random() < 0.2:
            target.unrecognized_fields["custom"] = {"é": [1, None, True], "\u212a": "\"\\\n\u0007"}
        targets.targets[path] = target
        folder, slash, name = path.rpartition("/")
        self.files[path] = data
        for digest in target.hashes.values():
            self.files[f"{folder}{slash}{digest}.{name}"] = data

    def op_root(self):
        self.root.expires = self.soon(400)
        self.publish("root")

    def op_rotate(self):
        role = self.rng.choice(TOP)
        old = self.enough_signers("root")
        self.give_keys(role)
        signers = {signer.public_key.keyid: signer for signer in old + self.enough_signers("root")}
        self.publish("root", signers=signers.values())
        if role == "timestamp":
            self.publish("timestamp")
        elif role == "snapshot":
            self.publish_all()
        elif role == "targets":
            self.publish_all("targets")

    def op_add_key(self):
        role = self.rng.choice(TOP[1:])
        signer = self.keys.draw(self.rng)
        self.root.add_key(signer.public_key, role)
        if all(known.public_key.keyid != signer.public_key.keyid for known in self.signers[role]):
            self.signers[role].append(signer)
        self.publish("root")

    def op_remove_key(self):
        role = self.rng.choice(TOP[1:])
        entry = self.root.roles[role]
        if len(entry.keyids) > entry.threshold:
            gone = self.rng.choice(entry.keyids)
            self.root.revoke_key(gone, role)
            self.signers[role] = [s for s in self.signers[role] if s.public_key.keyid != gone]
            self.publish("root")
            self.publish_all("targets")

    def op_threshold(self):
        role = self.rng.choice(TOP)
        old = self.enough_signers("root")
        self.root.roles[role].threshold = self.rng.randint(1, len(self.root.roles[role].keyids))
        signers = {signer.public_key.keyid: signer for signer in old + self.enough_signers("root")}
        self.publish("root", signers=signers.values())
        self.publish_all("targets")

    def op_consistent(self):
        self.root.consistent_snapshot = self.rng.choice([True, False, None])
        self.publish("root")

    def op_delegate(self):
        holder_name = self.rng.choice([name for name in self.documents if name not in TOP[:3]])
        holder = self.documents[holder_name].signed
        taken = set(self.documents) | {"root"}
        name = self.rng.choice(["A", "B", "C", "a/b", "..", "ü", "K", "\u212a", f"r{len(self.documents)}"])
        if name in taken:
            return
        if holder.delegations is None:
            holder.delegations = Delegations({}, {})
        by_hash = self.rng.random() < 0.25
        paths = None if by_hash else self.rng.sample(PATTERNS, self.rng.randint(1, 3))
        prefixes = [f"{self.rng.randint(0, 255):02x}"[:self.rng.randint(1, 2)] for _ in range(6)] if by_hash else None
        holder.delegations.roles[name] = DelegatedRole(name, [], 1, self.rng.random() < 0.3, paths, prefixes)
        self.documents[name] = Metadata(Targets(expires=self.soon(60)))
        self.give_keys(name)
        for _ in range(self.rng.randint(0, 3)):
            self.add_target(self.documents[name].signed, self.rng.choice(PATHS[:-1]))
        self.publish(name, bump=False)
        self.publish_all(holder_name)

    def op_cycle(self):
        """A role that delegates back, or to one that another delegates to, with the same keys."""
        delegated = [name for name in self.documents if name not in TOP]
        if len(delegated) < 2:
            return
        holder_name, name = self.rng.sample(delegated, 2)
        holder, known = self.documents[holder_name].signed, self.delegators(name)
        if not known or holder.delegations and name in holder.delegations.roles:
            return
        if holder.delegations is None:
            holder.delegations = Delegations({}, {})
        role = known[0].delegations.roles[name]
        holder.delegations.roles[name] = DelegatedRole(name, list(role.keyids), role.threshold, False, ["*", "*/*"])
        for keyid in role.keyids:
            holder.delegations.keys[keyid] = known[0].delegations.keys[keyid]
        self.publish_all(holder_name)

    def op_rotate_delegated(self):
        delegated = [name for name in self.documents if name not in TOP and self.delegators(name)]
        if not delegated:
            return
        name = self.rng.choice(delegated)
        self.give_keys(name)
        holders = [n for n, d in self.documents.items() if d.signed in self.delegators(name)]
        self.publish_all(*holders, *([name] if self.rng.random() < 0.8 and name not in holders else []))

    def op_unknown_fields(self):
        role = self.rng.choice(list(self.documents))
        self.documents[role].signed.unrecognized_fields["x-é"] = self.rng.choice(
            [None, 2**70, -3, "\u2028\u0000", {"b": 1, "a": [], "é": {}}, ["\U0001f600", False]])
        self.documents[role].unrecognized_fields["outside"] = self.rng.choice([1.5, {"signed": 1}])
        self.publish(role) if role == "root" else self.publish_all(role) if role not in TOP[:3] else self.publish_all()

    def op_describe(self):
        self.describes_files = not self.describes_files
        self.publish_all("targets")

    def op_wait(self):
        self.now += datetime.timedelta(hours=self.rng.choice([1, 12, 30, 24 * 4, 24 * 20]))

    def op_clock_back(self):
        self.now = max(START, self.now - datetime.timedelta(days=self.rng.randint(1, 5)))

    # Actions of key thieves and careless publishers; they persist

    def op_fast_forward(self):
        role = self.rng.choice(TOP[1:])
        self.documents[role].signed.version += self.rng.choice([10, 2**31, 2**53])
        self.publish(role)
        if role != "timestamp":
            self.publish_all() if role == "targets" else self.publish("timestamp")

    def op_recover(self):
        """New keys for the roles of a stolen key, and versions from the beginning."""
        roles = self.rng.sample(["timestamp", "snapshot"], self.rng.randint(1, 2))
        old = self.enough_signers("root")
        for role in roles:
            self.give_keys(role)
        self.publish("root", signers={s.public_key.keyid: s for s in old + self.enough_signers("root")}.values())
        for role in roles:
            self.documents[role].signed.version = self.rng.randint(1, 3)
        if "snapshot" in roles and self.rng.random() < 0.7:
            self.documents["targets"].signed.version = self.rng.randint(1, 3)
            self.publish("targets", bump=False)
        self.publish("snapshot", bump=False)
        self.publish("timestamp", bump=False)

    def op_roll_back(self):
        role = self.rng.choice(TOP[1:])
        signed = self.documents[role].signed
        signed.version = max(1, signed.version - self.rng.randint(1, 3))
        self.publish(role, bump=False)
        if role == "targets":
            self.publish_all()
        elif role == "snapshot":
            self.publish("timestamp")

    def op_expire(self):
        role = self.rng.choice(list(self.documents))
        self.documents[role].signed.expires = self.now - datetime.timedelta(seconds=self.rng.choice([0, 1, 86400]))
        if role == "root":
            self.publish("root")
        elif role in ("snapshot", "timestamp"):
            self.publish_all()
        else:
            self.publish_all(role)

    def op_drop_role(self):
        """A snapshot that lists a role no more."""
        delegated = [name for name in self.documents if name not in TOP]
        if delegated:
            snapshot = self.documents["snapshot"]
            self.publish("snapshot")
            name = self.rng.choice(delegated)
            snapshot.signed.meta.pop(f"{name}.json", None)
            snapshot.signatures.clear()
            for signer in self.enough_signers("snapshot"):
                snapshot.sign(signer, append=True)
            self.serve("snapshot", dumped(self.rng, snapshot))
            self.publish("timestamp")

    def op_undersign(self):
        role = self.rng.choice(list(self.documents))
        signers = [self.keys.draw(self.rng)] + self.signers[role][:max(0, self.threshold(role) - 1)]
        self.publish(role, signers=signers)
        if role != "timestamp" and role != "root":
            self.publish("timestamp") if role == "snapshot" else self.publish_all()

    def op_root_without_old_keys(self):
        old = list(self.signers["root"])
        self.give_keys("root")
        signers = [s for s in self.signers["root"] if s not in old] if self.rng.random() < 0.5 else old
        self.publish("root", signers=signers)


GOOD = [
    ("timestamp", 8), ("snapshot", 6), ("targets", 10), ("root", 3), ("rotate", 6), ("add_key", 3), ("remove_key", 2),
    ("threshold", 3), ("consistent", 2), ("delegate", 8), ("cycle", 2), ("rotate_delegated", 3), ("unknown_fields", 4),
    ("describe", 2), ("wait", 8), ("clock_back", 2)]
BAD = [
    ("fast_forward", 4), ("recover", 4), ("roll_back", 4), ("expire", 4), ("drop_role", 2), ("undersign", 4),
    ("root_without_old_keys", 1)]


def act(repository, ops):
    names, weights = zip(*ops)
    getattr(repository, f"op_{repository.rng.choices(names, weights)[0]}")()


# Faults of servers and networks; they last for one update

def newest(repository):
    """The names of the files that a client asks for next, or nearly."""
    names = ["timestamp.json", f"{repository.root.version}.root.json", f"{repository.root.version + 1}.root.json"]
    for role, document in repository.documents.items():
        if role not in ("root", "timestamp"):
            names.append(file_name(role, document.signed.version, repository.consistent))
    return names


def attack(repository):
    """The files as a hostile or broken server shows them, and those that cannot be fetched at all."""
    rng, served = repository.rng, dict(repository.served)
    name = rng.choice(newest(repository))
    kind = rng.choice(["replay", "missing", "broken", "truncated", "flipped", "garbage", "large", "foreign", "signatures", "edited",
                       "swapped", "frozen"])
    data = served.get(name)
    if kind == "missing":
        served.pop(name, None)
    elif kind == "broken":
        return served, [name]
    elif kind == "replay":
        role = rng.choice(list(repository.history))
        version, _ = repository.history[role][-1]
        served_name = "timestamp.json" if role == "timestamp" else f"{version}.root.json" if role == "root" else file_name(
            role, version, repository.consistent)
        served[served_name] = rng.choice(repository.history[role])[1]
    elif kind == "frozen":
        served["timestamp.json"] = rng.choice(repository.history["timestamp"])[1]
    elif data is None:
        served[name] = b"{}"
    elif kind == "truncated":
        served[name] = data[:int(rng.random() * len(data))]
    elif kind == "flipped":
        place = int(rng.random() * len(data))
        served[name] = data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1:]
    elif kind == "garbage":
        served[name] = rng.choice([b"", b"null", b"[]", b"{}", b"<html>", b"\xff\xfe", b"[" * 2000, data + b"x", b"\xef\xbb\xbf" + data])
    elif kind == "large":
        served[name] = data + b" " * (5_000_001 if name != "timestamp.json" else 16_385)
    elif kind == "foreign":
        served[name] = rng.choice(list(repository.served.values()))
    elif kind == "signatures":
        served[name] = changed_signatures(rng, data)
    elif kind == "edited":
        served[name] = edited(repository, data)
    elif kind == "swapped":
        other = rng.choice(newest(repository))
        served[name], served[other] = served.get(other, b""), data
    return served, []


def changed_signatures(rng, data):
    document = json.loads(data)
    signatures = document["signatures"]
    choice = rng.randrange(7)
    if choice == 0:
        signatures.clear()
    elif choice == 1 and signatures:
        signatures.append(copy.copy(signatures[0]))
    elif choice == 2 and signatures:
        signatures[0]["sig"] = rng.choice(["", "zz", "00" * 64, signatures[0]["sig"][:-2], signatures[0]["sig"] + "00"])
    elif choice == 3 and signatures:
        signatures[0]["sig"] = signatures[0]["sig"].upper()
    elif choice == 4 and signatures:
        del signatures[0]["sig"]
    elif choice == 5:
        signatures.append({"keyid": "f" * 64, "sig": "ab" * 64, "note": [1]})
    else:
        signatures.reverse()
    return json.dumps(document).encode()


def edited(repository, data):
    """A file in which one thing is wrong, signed by the role's own keys in most cases."""
    rng, document = repository.rng, json.loads(data)
    signed = document["signed"]
    kind = signed["_type"]
    edits = [
        lambda: signed.pop(rng.choice(list(signed))),
        lambda: signed.update(version=rng.choice([0, -1, "1", {}, 1.5, [], 2**31])),
        lambda: signed.update(expires=rng.choice(["", "2030-02-30T00:00:00Z", "2030-01-01", "2030-01-01T00:00:00+00:00", 5, None])),
        lambda: signed.update(spec_version=rng.choice(["2.0.0", "1", "1.0.x", "1.0.0.0", "", 1, "1..0"])),
        lambda: signed.update(_type=rng.choice([*TOP, "mirrors", "", 3])),
        lambda: signed.update(extra=1.25),
        lambda: signed.update(extra={"deep": [None, -0, "\u0001"]}),
        lambda: document.pop("signatures"),
        lambda: document.update(signatures={"keyid": "a"}),
        lambda: document.update(signed=[signed]),
    ]
    if kind == "root":
        roles, keys = signed["roles"], signed["keys"]
        edits += 2 * [
            lambda: roles.pop(rng.choice(list(roles))),
            lambda: roles.update(mirrors=dict(roles["targets"])),
            lambda: roles["targets"].update(threshold=rng.choice([0, -1, "1", 1.5, None, 99])),
            lambda: roles["snapshot"]["keyids"].append(roles["snapshot"]["keyids"][0]),
            lambda: roles["snapshot"]["keyids"].append("0" * 64),
            lambda: roles["timestamp"].pop(rng.choice(["keyids", "threshold"])),
            lambda: keys.update({"a": {"keytype": "rsa9", "scheme": "x", "keyval": {"public": ""}}}),
            lambda: keys.update({"a": {"keytype": "ed25519", "scheme": "ed25519", "keyval": {}}}),
            lambda: keys.update({"a": {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": "no"}}}),
            lambda: keys.update({"a": {"keytype": "ecdsa-sha2-nistp256", "scheme": "ecdsa-sha2-nistp256",
                                       "keyval": {"public": "-----BEGIN PUBLIC KEY-----"}, "more": []}}),
            lambda: keys.pop(rng.choice(list(keys))),
            lambda: signed.update(keys=[], roles={}),
        ]
    elif kind == "timestamp":
        meta = signed["meta"]
        edits += 2 * [
            lambda: meta.pop("snapshot.json"),
            lambda: meta["snapshot.json"].pop("version"),
            lambda: meta["snapshot.json"].update(version=rng.choice([0, "1", None, 2**31])),
            lambda: meta["snapshot.json"].update(length=rng.choice([-1, "5", 1, 10**6])),
            lambda: meta["snapshot.json"].update(hashes=rng.choice([{}, {"sha256": "0" * 64}, {"sha256": 5}, {"md9": "00"}, []])),
            lambda: signed.update(meta=[]),
        ]
    elif kind == "snapshot":
        meta = signed["meta"]
        edits += 2 * [
            lambda: meta.pop(rng.choice(list(meta))),
            lambda: meta.update({"more.json": {"version": 1}}),
            lambda: meta.update({"more.json": rng.choice([{"version": 0}, {}, 5])}),
            lambda: meta["targets.json"].update(version=meta["targets.json"]["version"] + rng.choice([1, -1])),
            lambda: meta["targets.json"].update(length=rng.choice([-1, "5", 1])),
            lambda: meta["targets.json"].update(hashes=rng.choice([{}, {"sha256": "0" * 64}, {"none": "00"}])),
            lambda: signed.update(meta=None),
        ]
    else:
        key = {"keytype": "ed25519", "scheme": "ed25519", "keyval": {"public": "00" * 32}}
        role = {"name": "new", "keyids": ["k"], "threshold": 1, "terminating": False, "paths": ["*"]}

        def delegate(**changes):
            changed = {key: value for key, value in {**role, **changes}.items() if value is not ...}
            signed["delegations"] = {"keys": {"k": key}, "roles": [changed]}

        edits += 2 * [
            lambda: signed.update(targets=[]),
            lambda: signed["targets"].update({"t": {"length": 1}}),
            lambda: signed["targets"].update({"t": {"length": rng.choice([-1, "1", None]), "hashes": {"sha256": "00"}}}),
            lambda: signed["targets"].update({"a.txt": {"length": 1, "hashes": rng.choice([{}, {"sha256": 1}, {"odd": "00"}])}}),
            lambda: signed.update(delegations=None),
            lambda: signed.update(delegations={"keys": {}}),
            lambda: signed.update(delegations={"roles": []}),
            lambda: delegate(),
            lambda: delegate(paths=...),
            lambda: delegate(path_hash_prefixes=["0"]),
            lambda: delegate(paths=[1]),
            lambda: delegate(paths=..., path_hash_prefixes=[2]),
            lambda: delegate(name=rng.choice(["root", "", "targets"])),
            lambda: delegate(threshold=0),
            lambda: delegate(keyids=["k", "k"]),
            lambda: delegate(terminating=...),
            lambda: signed.update(delegations={"keys": {"k": key}, "roles": [role, role]}),
            lambda: signed.update(delegations={"keys": {"k": {"keytype": "none"}}, "roles": [role]}),
        ]
    rng.choice(edits)()
    if rng.random() < 0.85:
        sign_again(repository, document, kind, data)
    return json.dumps(document).encode()


def sign_again(repository, document, kind, data):
    role = kind
    if kind == "targets":
        role = next((name for name, past in repository.history.items() if any(bytes_ == data for _, bytes_ in past)), "targets")
    try:
        message = encode_canonical(document.get("signed")).encode()
    except Exception:  # a fraction: nobody can sign it
        return
    if "signatures" in document:
        document["signatures"] = [
            {"keyid": s.public_key.keyid, "sig": s.sign(message).signature} for s in repository.signers[role]]
