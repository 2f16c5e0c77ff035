"""The formats of keys, encrypted models and archives, written anew in Python from Documentation/Formats alone.

`check` opens the vectors with it; `scripts/generate/format-vectors` makes them.
"""
import base64
import hashlib
import hmac
import json
import re

from cryptography.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ed25519, mlkem, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, MLKEM768X25519PrivateKey, MLKEM768X25519PublicKey, Suite
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

SUITES = {
    "xwing": "HPKE-XWing-HKDF-SHA256-AES-256-GCM",
    "x25519": "HPKE-X25519-HKDF-SHA256-ChaCha20-Poly1305",
    "aes": "AES-256-GCM",
}
HPKE = {
    "xwing": Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM),
    "x25519": Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.CHACHA20_POLY1305),
}
MAGIC = b"MLARCH1\n"


class Wrong(Exception):
    """A file that must not be accepted."""


def b64(data):
    return base64.b64encode(data).decode()


def sparse(data):
    """Bytes as a list of base64 and numbers of zeros."""
    parts, position = [], 0
    for run in re.finditer(rb"\0{64,}", data):
        if run.start() > position:
            parts.append(b64(data[position:run.start()]))
        parts.append(run.end() - run.start())
        position = run.end()
    return parts + ([b64(data[position:])] if position < len(data) else [])


def dense(parts):
    return b"".join(bytes(part) if isinstance(part, int) else base64.b64decode(part) for part in parts)


def assembled(data, pieces):
    """Parts of `data` one behind the other; behind "flip" the first byte has its lowest bit changed."""
    result, flip = bytearray(), False
    for piece in pieces:
        if piece == "flip":
            flip = True
            continue
        part = bytearray(data[piece[0]:piece[1]])
        if flip:
            part[0] ^= 1
        result, flip = result + part, False
    return bytes(result)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def parse(text):
    value = json.loads(text)
    if canonical(value) != bytes(text):
        raise Wrong("not canonical")
    return value


# Keys

def private_key(suite, secret):
    if suite == "x25519":
        return x25519.X25519PrivateKey.from_private_bytes(secret)
    expanded = hashlib.shake_256(secret).digest(96)
    return MLKEM768X25519PrivateKey(
        mlkem.MLKEM768PrivateKey.from_seed_bytes(expanded[:64]),
        x25519.X25519PrivateKey.from_private_bytes(expanded[64:]))


def public_key(suite, secret):
    if suite == "aes":
        return b""
    if suite == "x25519":
        return private_key(suite, secret).public_key().public_bytes_raw()
    expanded = hashlib.shake_256(secret).digest(96)
    lattice = mlkem.MLKEM768PrivateKey.from_seed_bytes(expanded[:64]).public_key().public_bytes_raw()
    return lattice + x25519.X25519PrivateKey.from_private_bytes(expanded[64:]).public_key().public_bytes_raw()


def loaded_public_key(suite, raw):
    if suite == "x25519":
        return x25519.X25519PublicKey.from_public_bytes(raw)
    return MLKEM768X25519PublicKey(
        mlkem.MLKEM768PublicKey.from_public_bytes(raw[:1184]), x25519.X25519PublicKey.from_public_bytes(raw[1184:]))


def wrap(suite, secret, plain, purpose, nonce=None):
    if suite == "aes":
        nonce = nonce or hashlib.sha256(plain + purpose).digest()[:12]
        return nonce + AESGCM(secret).encrypt(nonce, plain, purpose)
    return HPKE[suite].encrypt(plain, loaded_public_key(suite, public_key(suite, secret)), purpose)


def unwrap(suite, secret, wrapped, purpose):
    if suite == "aes":
        return AESGCM(secret).decrypt(wrapped[:12], wrapped[12:], purpose)
    return HPKE[suite].decrypt(wrapped, private_key(suite, secret), purpose)


def fingerprint(suite, secret):
    prefix = b"mlk/1 fingerprint\0" + SUITES[suite].encode() + b"\0"
    if suite == "aes":
        return hmac.digest(secret, prefix, "sha256")
    return hashlib.sha256(prefix + public_key(suite, secret)).digest()


def key_members(suite, secret, kind, team, **more):
    print_ = fingerprint(suite, secret)
    members = {
        "created": "2026-11-23T08:00:00Z", "fingerprint": print_.hex(), "format": 1, "keyID": print_[:16].hex(),
        "kind": kind, "suite": SUITES[suite], "team": team, "type": "mlmodelkey", **more}
    if suite != "aes":
        members["publicKey"] = b64(public_key(suite, secret))
    if kind in ("private", "symmetric"):
        members["secret"] = b64(secret)
    return members


def suite_name(name):
    return {value: key for key, value in SUITES.items()}[name]


def signed_text(key):
    members = {k: v for k, v in key.items() if k not in ("signature", "secret", "protection")}
    return b"mlk/1 key\0" + canonical({**members, "kind": "public"})


def key_secret(text, passphrase=None, recipient=None):
    """The suite and the secret of a key, or None for the secret of a public half; raises for a key that is wrong."""
    key = parse(text)
    suite = suite_name(key["suite"])
    signature = key.get("signature")
    if signature:
        ed25519.Ed25519PublicKey.from_public_bytes(base64.b64decode(signature["publicKey"])).verify(
            base64.b64decode(signature["value"]), signed_text(key))
    if key["kind"] == "public":
        prefix = b"mlk/1 fingerprint\0" + key["suite"].encode() + b"\0"
        if hashlib.sha256(prefix + base64.b64decode(key["publicKey"])).hexdigest() != key["fingerprint"]:
            raise Wrong("fingerprint")
        return suite, None
    if key["kind"] == "protected":
        protection = key["protection"]
        purpose = b"mlk/1 protected\0" + bytes.fromhex(key["fingerprint"])
        if protection["kind"] == "scrypt":
            derived = Scrypt(salt=base64.b64decode(protection["salt"]), length=32, n=protection["cost"],
                             r=protection["r"], p=protection["p"]).derive(passphrase.encode())
            sealed = base64.b64decode(protection["sealed"])
            secret = AESGCM(derived).decrypt(sealed[:12], sealed[12:], purpose)
        else:
            own_suite, own = key_secret(recipient)
            item = next(r for r in protection["recipients"] if r["keyID"] == json.loads(recipient)["keyID"])
            secret = unwrap(own_suite, own, base64.b64decode(item["wrapped"]), purpose)
    else:
        secret = base64.b64decode(key["secret"])
    if fingerprint(suite, secret).hex() != key["fingerprint"] or key["fingerprint"][:32] != key["keyID"]:
        raise Wrong("fingerprint")
    return suite, secret


# Encrypted folders

def expand(key, info):
    return HKDFExpand(algorithm=SHA256(), length=32, info=info).derive(key)


def record_code(record, content_key):
    members = {k: v for k, v in record.items() if k != "mac"}
    key = expand(content_key, b"mlk/1 record\0" + bytes.fromhex(record["contentID"]))
    return hmac.digest(key, canonical(members), "sha256")


def open_cobblestone(key, context, stored):
    decryptor = Cobblestone256Decryptor(key, context)
    return decryptor.update(stored) + decryptor.finalize()


def open_folder(files, key_text):
    """The files of an encrypted model, by their paths; `files` are those of the folder."""
    record = parse(files["encryption.json"])
    suite, secret = key_secret(key_text)
    content_id = bytes.fromhex(record["contentID"])
    purpose = b"mlk/1 wrap\0" + bytes.fromhex(record["key"]["keyID"]) + content_id
    content_key = unwrap(suite, secret, base64.b64decode(record["key"]["wrapped"]), purpose)
    if record_code(record, content_key) != base64.b64decode(record["mac"]):
        raise Wrong("mac")
    plain = {}
    for file in record["files"]:
        stored = files[file["path"]]
        if stored[:56] != base64.b64decode(file["start"]):
            raise Wrong("start")
        context = b"mlk/1 file\0" + content_id + file["path"].encode()
        plain[file["path"]] = open_cobblestone(content_key, context, stored)
        if len(plain[file["path"]]) != file["size"]:
            raise Wrong("size")
    for file in record["clear"]:
        data = files[file["path"]]
        if hashlib.sha256(data).hexdigest() != file["sha256"] or len(data) != file["size"]:
            raise Wrong("clear file")
        plain[file["path"]] = data
    return plain, content_key


def seal_folder(plain, clear, suite, secret, content_key, content_id, team):
    """The files of an encrypted folder."""
    files, entries = {}, []
    for path in sorted(plain):
        encryptor = Cobblestone256Encryptor(content_key, b"mlk/1 file\0" + content_id + path.encode())
        files[path] = encryptor.update(plain[path]) + encryptor.finalize()
        entries.append({"path": path, "size": len(plain[path]), "start": b64(files[path][:56])})
    entries_clear = [
        {"path": path, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)} for path, data in sorted(clear.items())]
    key_id = fingerprint(suite, secret)[:16]
    wrapped = wrap(suite, secret, content_key, b"mlk/1 wrap\0" + key_id + content_id)
    record = {
        "clear": entries_clear, "contentID": content_id.hex(), "created": "2026-11-23T08:00:00Z", "files": entries,
        "format": 1, "key": {"keyID": key_id.hex(), "suite": SUITES[suite], "team": team, "wrapped": b64(wrapped)},
        "suite": "Cobblestone-256", "type": "mlmodelc-encryption"}
    record["mac"] = b64(record_code(record, content_key))
    return {**files, **clear, "encryption.json": canonical(record)}


# Archives

def align(offset):
    return (offset + 4095) // 4096 * 4096


def archive_start(header, signatures=b""):
    text = header if isinstance(header, bytes) else canonical(header)
    start = MAGIC + len(text).to_bytes(4, "little") + len(signatures).to_bytes(4, "little")
    start += hashlib.sha256(text).digest() + text + signatures
    return start + bytes(align(len(start)) - len(start))


def archive_header(files, name, chunk=256 << 10, record=None, content_key=None):
    entries, offset = [], 0
    for path in sorted(files, key=str.encode):
        data = files[path]
        offset = align(offset)
        entries.append({
            "chunks": [{"sha256": hashlib.sha256(data[i:i + chunk]).hexdigest(), "size": len(data[i:i + chunk])}
                       for i in range(0, len(data), chunk)],
            "offset": offset, "path": path, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)})
        offset += len(data)
    header = {
        "compression": "none", "created": "2026-11-23T08:00:00Z", "files": entries, "format": 1, "model": {"name": name},
        "tool": "format_vectors.py", "type": "mlarchive"}
    if record:
        header["encryption"] = {
            "contentID": record["contentID"], "keyID": record["key"]["keyID"], "team": record["key"]["team"]}
        key = expand(content_key, b"mlk/1 archive\0" + bytes.fromhex(record["contentID"]))
        header["encryption"]["mac"] = b64(hmac.digest(key, canonical(header), "sha256"))
    return header


GEAR = [int.from_bytes(hashlib.sha256(b"mlarchive gear\0" + bytes([b])).digest()[:8], "little") for b in range(256)]


def chunk_lengths(data, doublings=0):
    """The pieces that ours divides a file into."""
    average = 65536 << doublings
    lengths, start = [], 0
    while start < len(data):
        rest, value, length = data[start:start + 4 * average], 0, 0
        for length in range(1, len(rest) + 1):
            if length > average // 4 - 64:
                value = (2 * value + GEAR[rest[length - 1]]) % 2**64
            bits = (18 if length < average else 14) + doublings
            if length >= average // 4 and value >> (64 - bits) == 0:
                break
        lengths.append(length)
        start += length
    return lengths


def stream(seed, count):
    """Bytes that follow from a text: SHA-256 of it and of a number of eight bytes, one behind the other; zeros without a text."""
    if not seed:
        return bytes(count)
    blocks = (hashlib.sha256(seed.encode() + i.to_bytes(8, "little")).digest() for i in range(-(-count // 32)))
    return b"".join(blocks)[:count]


def archive(files, header, signatures=b""):
    data = bytearray(archive_start(header, signatures))
    start = len(data)
    for entry in header["files"]:
        data += bytes(start + entry["offset"] - len(data))
        data += files[entry["path"]]
    return bytes(data)


def statement(name, header_hash):
    return canonical({
        "_type": "https://in-toto.io/Statement/v1", "predicate": {},
        "predicateType": "https://swift-coreml.org/mlarchive/v1",
        "subject": [{"digest": {"sha256": header_hash.hex()}, "name": name}]})


def encoding(payload):
    kind = b"application/vnd.in-toto+json"
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def sign(name, header, key):
    payload = statement(name, hashlib.sha256(canonical(header)).digest())
    return canonical([{
        "payload": b64(payload), "payloadType": "application/vnd.in-toto+json",
        "signatures": [{"keyid": b64(key.public_key().public_bytes_raw()), "sig": b64(key.sign(encoding(payload)))}]}])


def open_archive(data, signer=None):
    """The files of an archive by their paths, and its header; every hash and signature is checked."""
    if data[:8] != MAGIC:
        raise Wrong("magic")
    header_length, signatures_length = (int.from_bytes(data[i:i + 4], "little") for i in (8, 12))
    text = data[48:48 + header_length]
    if hashlib.sha256(text).digest() != data[16:48]:
        raise Wrong("header hash")
    header = parse(text)
    signatures = data[48 + header_length:48 + header_length + signatures_length]
    signers = []
    for envelope in parse(signatures) if signatures else []:
        payload = base64.b64decode(envelope["payload"])
        if payload != statement(header["model"]["name"], data[16:48]):
            raise Wrong("statement")
        raw = base64.b64decode(envelope["signatures"][0]["keyid"])
        ed25519.Ed25519PublicKey.from_public_bytes(raw).verify(
            base64.b64decode(envelope["signatures"][0]["sig"]), encoding(payload))
        signers.append(raw)
    if signer is not None and signer not in signers:
        raise Wrong("signer")
    start = align(48 + header_length + signatures_length)
    files, end = {}, 0
    for entry in header["files"]:
        if entry["offset"] != align(end):
            raise Wrong("offset")
        if any(data[start + end:start + entry["offset"]]):
            raise Wrong("gap")
        stored = data[start + entry["offset"]:start + entry["offset"] + entry["size"]]
        position = 0
        for chunk in entry["chunks"]:
            if hashlib.sha256(stored[position:position + chunk["size"]]).hexdigest() != chunk["sha256"]:
                raise Wrong("chunk")
            position += chunk["size"]
        if position != entry["size"] or hashlib.sha256(stored).hexdigest() != entry["sha256"]:
            raise Wrong("file")
        files[entry["path"]] = stored
        end = entry["offset"] + entry["size"]
    if header["files"] and len(data) != start + end:
        raise Wrong("length")
    return files, header


def check_header_code(header, content_key):
    encryption = dict(header["encryption"])
    code = base64.b64decode(encryption.pop("mac"))
    key = expand(content_key, b"mlk/1 archive\0" + bytes.fromhex(encryption["contentID"]))
    if hmac.digest(key, canonical({**header, "encryption": encryption}), "sha256") != code:
        raise Wrong("header code")


# Deltas

def frame(data):
    """A frame of Zstandard (RFC 8878) whose blocks are as they are."""
    result = b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little")
    blocks = [data[i:i + (128 << 10)] for i in range(0, len(data), 128 << 10)] or [b""]
    for number, block in enumerate(blocks):
        result += (len(block) << 3 | (number == len(blocks) - 1)).to_bytes(3, "little") + block
    return result


def frame_of_zeros(blocks):
    """A frame that stands for so many times 128 KiB, in four bytes each."""
    size = 128 << 10
    result = b"\x28\xb5\x2f\xfd\xa0" + (size * blocks).to_bytes(4, "little")
    return result + b"".join((size << 3 | 1 << 1 | (i == blocks - 1)).to_bytes(3, "little") + b"\0" for i in range(blocks))


def ordered(bits, width):
    sign = 1 << (8 * width - 1)
    return bits if width == 1 else bits ^ (2 * sign - 1) if bits & sign else bits | sign


WIDTHS = {1: 1, 2: 2, 3: 2, 4: 4}  # int8, float16, bfloat16, float32
EXPONENTS = {1: (0, 0), 2: (10, 31), 3: (7, 255), 4: (23, 255)}


def planes(old, new, element):
    """The differences of elements, sorted by the exponents of the old ones, byte by byte."""
    differences, width = [], WIDTHS[element]
    (shift, mask), top = EXPONENTS[element], 1 << (8 * width)
    for i in range(0, len(new), width):
        before, after = (int.from_bytes(data[i:i + width], "little") for data in (old, new))
        d = (ordered(after, width) - ordered(before, width)) % top
        differences.append((before >> shift & mask, 2 * d if d < top // 2 else 2 * (top - d) - 1))
    differences = [d for _, d in sorted(differences, key=lambda entry: entry[0])]
    return b"".join(bytes(d >> (8 * k) & 255 for d in differences) for k in reversed(range(width)))


def segment(kind, count, packed=b"", file=0, offset=0, element=0, skipped=0):
    return (bytes([kind, element, skipped, 0]) + file.to_bytes(4, "little") + offset.to_bytes(8, "little")
            + count.to_bytes(8, "little") + len(packed).to_bytes(4, "little") + packed)


def copy_segment(file, offset, count):
    return segment(0, count, file=file, offset=offset)


def bytes_segment(data):
    return segment(1, len(data), frame(data))


def difference_segment(file, offset, old, new, element, skipped=0):
    width = WIDTHS[element]
    end = skipped + (len(new) - skipped) // width * width
    packed = new[:skipped] + new[end:] + planes(old[offset:][skipped:end], new[skipped:end], element)
    return segment(2, len(new), frame(packed), file, offset, element, skipped)


def delta(old, new, files, header, record=b"", content_key=None, content_id=b"", changes={}):
    """A delta from the archive `old` to `new`, whose header is `header`; `files` are the segments of each of its files."""
    def archive_name(data):
        return {"length": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    prefix = new[:48 + int.from_bytes(new[8:12], "little") + int.from_bytes(new[12:16], "little")]
    text = canonical({
        "created": "2026-11-23T08:00:00Z", "format": 1, "from": archive_name(old), "prefix": len(prefix), "record": len(record),
        "to": archive_name(new), "tool": "format_vectors.py", "type": "mldelta", **changes})
    body = b"".join(len(segments).to_bytes(4, "little") + b"".join(segments) for segments in files)
    if content_key:
        context = b"mlk/1 delta\0" + content_id + hashlib.sha256(old).digest() + hashlib.sha256(text).digest()
        encryptor = Cobblestone256Encryptor(content_key, context)
        body = encryptor.update(body) + encryptor.finalize()
    return b"MLDELT1\n" + len(text).to_bytes(4, "little") + bytes(4) + hashlib.sha256(text).digest() + text + prefix + record + body


# Vectors

def check(folder):
    """Opens every vector; the right ones must open to what they say, the others must be refused."""
    def read(name):
        return json.loads((folder / f"{name}.json").read_text())["vectors"]

    def refused(what, body):
        try:
            body()
        except (Wrong, InvalidTag, InvalidSignature, ValueError, KeyError, StopIteration, TypeError):
            return
        raise SystemExit(f"{what}: accepted")

    def data(files):
        return {path: base64.b64decode(text) for path, text in files.items()}

    def hashes(files):
        return {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}

    counts = []
    vectors = read("cobblestone")
    right = {vector["name"]: base64.b64decode(vector["stored"]) for vector in vectors if vector["valid"]}
    for vector in vectors:
        key, context = bytes.fromhex(vector["key"]), bytes.fromhex(vector["context"])
        if vector["valid"]:
            plain = open_cobblestone(key, context, right[vector["name"]])
            assert hashlib.sha256(plain).hexdigest() == vector["sha256"], vector["name"]
            assert len(plain) == vector["size"], vector["name"]
        else:
            stored = assembled(right[vector["of"]], vector["pieces"])
            refused(vector["name"], lambda: open_cobblestone(key, context, stored))
    counts.append(len(vectors))
    vectors = read("mlmodelkey")
    for vector in vectors:
        def opened():
            return key_secret(vector["text"].encode(), vector.get("passphrase"), vector.get("recipient", "").encode())
        if vector["valid"]:
            secret = opened()[1]
            assert (secret.hex() if secret else None) == vector.get("secret"), vector["name"]
        elif not vector.get("rule"):
            refused(vector["name"], opened)
    counts.append(len(vectors))
    vectors = read("encrypted-mlmodelc")
    right = {vector["name"]: data(vector["files"]) for vector in vectors if vector["valid"]}
    for vector in vectors:
        def opened():
            return open_folder({**right.get(vector.get("of"), {}), **data(vector["files"])}, vector["key"].encode())[0]
        if vector["valid"]:
            assert hashes(opened()) == vector["sha256"], vector["name"]
        elif not vector.get("rule"):
            refused(vector["name"], opened)
    counts.append(len(vectors))
    vectors = read("mlarchive")
    for vector in vectors:
        def opened():
            signer = vector.get("signer")
            files, header = open_archive(dense(vector["archive"]), bytes.fromhex(signer) if signer else None)
            if "key" in vector:
                files, content_key = open_folder(files, vector["key"].encode())
                check_header_code(header, content_key)
            return files
        if vector["valid"]:
            assert hashes(opened()) == vector["sha256"], vector["name"]
        elif not vector.get("rule"):
            refused(vector["name"], opened)
    counts.append(len(vectors))
    vectors = read("chunks")
    for vector in vectors:
        content = b"".join(stream(part["seed"], part["size"]) for part in vector["parts"])
        assert chunk_lengths(content, vector["doublings"]) == vector["sizes"], vector["name"]
    counts.append(len(vectors))
    print("vectors: %d of Cobblestone, %d of keys, %d of encrypted models, %d of archives, %d of their pieces" % tuple(counts))
