"""The key service's protocol, written anew in Python from Documentation/Formats/key-service.md alone: both sides of it.

HPKE is written out from RFC 9180, because the one in cryptography takes no additional data.
"""
import base64
import binascii
import datetime
import hashlib
import hmac
import os

import format_vectors as v
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mlkem, x25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ED25519, P256 = "Ed25519", "ECDSA-P256-SHA256"
ORDER_P256 = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def sized(data):
    return len(data).to_bytes(2, "big") + data


def moment(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# Signatures

class Signer:
    """A key that signs: a device's identity or a service's."""

    def __init__(self, algorithm, seed=None):
        seed = seed or os.urandom(32)
        self.algorithm = algorithm
        if algorithm == ED25519:
            self.key = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
            self.public = self.key.public_key().public_bytes_raw()
        else:
            number = int.from_bytes(seed, "big") % (ORDER_P256 - 1) + 1
            self.key = ec.derive_private_key(number, ec.SECP256R1())
            self.public = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    @property
    def json(self):
        return {"algorithm": self.algorithm, "publicKey": v.b64(self.public)}

    def raw(self, message):
        if self.algorithm == ED25519:
            return self.key.sign(message)
        r, s = decode_dss_signature(self.key.sign(message, ec.ECDSA(SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def sign(self, kind, **members):
        """A signed message of this type."""
        message = {"format": 1, "type": kind, **members}
        value = self.raw(b"mlk/1 signed\0" + v.canonical(message))
        return {**message, "signature": {"key": hashlib.sha256(self.public).digest()[:16].hex(), "value": v.b64(value)}}


def verify_raw(key, signature, message):
    public = base64.b64decode(key["publicKey"], validate=True)
    if key["algorithm"] == ED25519:
        ed25519.Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    else:
        encoded = encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public).verify(
            encoded, message, ec.ECDSA(SHA256()))


def verify(message, key, kind):
    """Throws unless `key` has signed the message, which is of this type."""
    rest = {name: value for name, value in message.items() if name != "signature"}
    public = base64.b64decode(key["publicKey"], validate=True)
    if message["type"] != kind or message["format"] != 1:
        raise v.Wrong("type")
    if message["signature"]["key"] != hashlib.sha256(public).digest()[:16].hex():
        raise v.Wrong("signer")
    verify_raw(key, base64.b64decode(message["signature"]["value"], validate=True), b"mlk/1 signed\0" + v.canonical(rest))


# HPKE, base mode, one message

def extract(salt, material):
    return hmac.digest(salt or bytes(32), material, "sha256")


def expand(key, info, length):
    output, block = b"", b""
    while len(output) < length:
        block = hmac.digest(key, block + info + bytes([len(output) // 32 + 1]), "sha256")
        output += block
    return output[:length]


def labeled(suite_id, salt, label, material):
    return extract(salt, b"HPKE-v1" + suite_id + label + material)


def expanded(suite_id, key, label, info, length):
    return expand(key, length.to_bytes(2, "big") + b"HPKE-v1" + suite_id + label + info, length)


KEM = {"xwing": 0x647A, "x25519": 0x0020}
AEAD = {"xwing": (0x0002, AESGCM), "x25519": (0x0003, ChaCha20Poly1305)}


def x25519_secret(private, public):
    return private.exchange(x25519.X25519PublicKey.from_public_bytes(public))


def combined(lattice, curve, encapsulated, public):
    """X-Wing's shared secret."""
    return hashlib.sha3_256(lattice + curve + encapsulated + public + b"\\.//^\\").digest()


def encapsulate(suite, public):
    ephemeral = x25519.X25519PrivateKey.generate()
    own = ephemeral.public_key().public_bytes_raw()
    if suite == "x25519":
        return kem_secret(x25519_secret(ephemeral, public), own + public), own
    lattice, curve = public[:1184], public[1184:]
    secret, ciphertext = mlkem.MLKEM768PublicKey.from_public_bytes(lattice).encapsulate()
    return combined(secret, x25519_secret(ephemeral, curve), own, curve), ciphertext + own


def decapsulate(suite, secret, encapsulated):
    public = v.public_key(suite, secret)
    if suite == "x25519":
        private = x25519.X25519PrivateKey.from_private_bytes(secret)
        return kem_secret(x25519_secret(private, encapsulated), encapsulated + public)
    seed = hashlib.shake_256(secret).digest(96)
    lattice = mlkem.MLKEM768PrivateKey.from_seed_bytes(seed[:64]).decapsulate(encapsulated[:1088])
    own = x25519.X25519PrivateKey.from_private_bytes(seed[64:])
    return combined(lattice, x25519_secret(own, encapsulated[1088:]), encapsulated[1088:], public[1184:])


def kem_secret(shared, context):
    suite_id = b"KEM" + KEM["x25519"].to_bytes(2, "big")
    key = labeled(suite_id, b"", b"eae_prk", shared)
    return expanded(suite_id, key, b"shared_secret", context, 32)


def schedule(suite, shared, info):
    number, cipher = AEAD[suite]
    suite_id = b"HPKE" + b"".join(n.to_bytes(2, "big") for n in (KEM[suite], 1, number))
    context = b"\0" + labeled(suite_id, b"", b"psk_id_hash", b"") + labeled(suite_id, b"", b"info_hash", info)
    secret = labeled(suite_id, shared, b"secret", b"")
    key = expanded(suite_id, secret, b"key", context, 32)
    return cipher(key), expanded(suite_id, secret, b"base_nonce", context, 12)


def hpke_seal(suite, public, info, aad, plain):
    shared, encapsulated = encapsulate(suite, public)
    cipher, nonce = schedule(suite, shared, info)
    return encapsulated + cipher.encrypt(nonce, plain, aad)


def hpke_open(suite, secret, info, aad, wrapped):
    length = {"xwing": 1120, "x25519": 32}[suite]
    cipher, nonce = schedule(suite, decapsulate(suite, secret, wrapped[:length]), info)
    return cipher.decrypt(nonce, wrapped[length:], aad)


# Messages

def device_name(team, app, identity):
    parts = (team.encode(), app.encode(), identity["algorithm"].encode(), base64.b64decode(identity["publicKey"]))
    return hashlib.sha256(b"mlk/1 device" + b"".join(map(sized, parts))).digest()[:16]


def binding(request):
    rest = {name: value for name, value in request.items() if name not in ("attestation", "signature")}
    return hashlib.sha256(b"mlk/1 attestation\0" + v.canonical(rest)).digest()


def token_evidence(token, request):
    """The evidence of a token's holder for a request that has none yet."""
    start, _, name, rest = token.split("_")
    if start != "mlk" or binascii.crc32(token[:-8].encode()) != int(rest[64:], 16):
        raise v.Wrong("token")
    signer = Signer(ED25519, bytes.fromhex(rest[:64]))
    return {"id": name, "kind": "token", "proof": v.b64(signer.raw(
        b"mlk/1 enrolment token\0" + name.encode() + b"\0" + binding(request)))}


def release_info(lease):
    parts = (lease["team"].encode(), lease["app"].encode(), bytes.fromhex(lease["device"]), bytes.fromhex(lease["keyID"]))
    return b"mlk release v1" + b"".join(map(sized, parts))


class Device:
    """A device's keys."""

    def __init__(self, team, app, signing, suite, seed=os.urandom):
        self.team, self.app, self.suite = team, app, suite
        self.identity = Signer(signing, seed(32))
        self.secret = seed(32)
        self.certificate, self.counter = None, 0

    @property
    def recipient(self):
        return {"publicKey": v.b64(v.public_key(self.suite, self.secret)), "suite": v.SUITES[self.suite]}

    @property
    def name(self):
        return device_name(self.team, self.app, self.identity.json).hex()

    def enrolment(self, challenge, token=None):
        members = {
            "app": self.app, "challenge": challenge, "identity": self.identity.json, "recipient": self.recipient,
            "team": self.team}
        evidence = {"kind": "none"}
        if token:
            evidence = token_evidence(token, {"format": 1, "type": "mlk-enrolment-request", **members})
        return v.canonical(self.identity.sign("mlk-enrolment-request", attestation=evidence, **members))

    def renewal(self, challenge):
        return v.canonical(self.identity.sign(
            "mlk-renewal-request", certificate=self.certificate, challenge=challenge, recipient=self.recipient))

    def accept_certificate(self, text, request, key):
        response = v.parse(text)
        verify(response, key, "mlk-enrolment-response")
        certificate = response["certificate"]
        verify(certificate, key, "mlk-device-certificate")
        if response["request"] != hashlib.sha256(request).hexdigest():
            raise v.Wrong("request")
        if (certificate["identity"], certificate["recipient"]) != (self.identity.json, self.recipient):
            raise v.Wrong("keys")
        if certificate["device"] != self.name:
            raise v.Wrong("device")
        self.certificate = certificate

    def release(self, model, time, challenge=None, nonce=None, archive=None):
        self.counter += 1
        more = {}
        if challenge:
            more["challenge"] = challenge
        if archive:
            more["archive"] = archive.hex()
        return v.canonical(self.identity.sign(
            "mlk-release-request", certificate=self.certificate, contentID=model["contentID"],
            contentKey=v.b64(model["wrapped"]), counter=self.counter, keyID=model["keyID"],
            nonce=(nonce or os.urandom(16)).hex(), time=time, **more))

    def open_lease(self, text, request, key):
        return open_lease(text, request, key, self.secret)


def open_lease(text, request, key, secret):
    """The content key of an answer to a release."""
    response = v.parse(text)
    verify(response, key, "mlk-release-response")
    lease, asked = response["lease"], v.parse(request)
    certificate = asked["certificate"]
    for name in ("team", "app", "device"):
        if lease[name] != certificate[name]:
            raise v.Wrong("device")
    if (lease["keyID"], lease["contentID"]) != (asked["keyID"], asked["contentID"]):
        raise v.Wrong("key")
    digest = hashlib.sha256(request).digest()
    if lease["request"] != digest.hex():
        raise v.Wrong("request")
    if lease["notBefore"] > response["time"] or not (lease["notAfter"] == "never" or lease["notAfter"] > lease["notBefore"]):
        raise v.Wrong("dates")
    return hpke_open(v.suite_name(response["suite"]), secret, release_info(lease), digest,
                     base64.b64decode(response["contentKey"]))


class Service:
    """A service that asks few questions: what a device's side is tried with."""

    def __init__(self, team, signing, suite, seed=os.urandom):
        self.team, self.suite = team, suite
        self.signer = Signer(signing, seed(32))
        self.secret = seed(32)

    @property
    def key_id(self):
        return v.fingerprint(self.suite, self.secret)[:16]

    def wrap(self, content_key, content_id):
        """A model's content key as the model brings it."""
        purpose = b"mlk/1 wrap\0" + self.key_id + content_id
        wrapped = v.wrap(self.suite, self.secret, content_key, purpose)
        return {"keyID": self.key_id.hex(), "contentID": content_id.hex(), "wrapped": wrapped}

    def challenge(self, request, time):
        asked = v.parse(request)
        return v.canonical(self.signer.sign(
            "mlk-challenge", challenge=v.b64(os.urandom(40)), nonce=asked["nonce"], time=time))

    def certify(self, request, time, end, serial=None):
        asked = v.parse(request)
        if asked["type"] == "mlk-renewal-request":
            old = asked["certificate"]
            verify(asked, old["identity"], "mlk-renewal-request")
            app, identity, level = old["app"], old["identity"], old["attestation"]
        else:
            verify(asked, asked["identity"], "mlk-enrolment-request")
            app, identity, level = asked["app"], asked["identity"], asked["attestation"]["kind"]
        certificate = self.signer.sign(
            "mlk-device-certificate", app=app, attestation=level,
            device=device_name(self.team, app, identity).hex(), identity=identity, notAfter=end, notBefore=time,
            recipient=asked["recipient"], serial=(serial or os.urandom(16)).hex(), team=self.team)
        return v.canonical(self.signer.sign(
            "mlk-enrolment-response", certificate=certificate, request=hashlib.sha256(request).hexdigest(), time=time))

    def release(self, request, time, end, grace, serial=None, **changes):
        asked = v.parse(request)
        certificate = asked["certificate"]
        verify(certificate, self.signer.json, "mlk-device-certificate")
        verify(asked, certificate["identity"], "mlk-release-request")
        purpose = b"mlk/1 wrap\0" + self.key_id + bytes.fromhex(asked["contentID"])
        content_key = v.unwrap(self.suite, self.secret, base64.b64decode(asked["contentKey"]), purpose)
        digest = hashlib.sha256(request).digest()
        lease = {
            "app": certificate["app"], "contentID": asked["contentID"], "device": certificate["device"], "format": 1,
            "keyID": asked["keyID"], "notAfter": end, "notBefore": time, "offlineGrace": grace,
            "request": digest.hex(), "serial": (serial or os.urandom(16)).hex(), "team": self.team, "type": "mlk-lease"}
        recipient = certificate["recipient"]
        info, aad = release_info(lease), digest
        lease.update(changes.get("lease", {}))
        wrapped = hpke_seal(
            v.suite_name(recipient["suite"]), base64.b64decode(recipient["publicKey"]), changes.get("info", info),
            changes.get("aad", aad), content_key)
        return v.canonical(self.signer.sign(
            "mlk-release-response", contentKey=v.b64(wrapped), lease=lease, suite=recipient["suite"], time=time))

    def revocations(self, version, time, devices=(), keys=(), leases=()):
        return v.canonical(self.signer.sign(
            "mlk-revocations", devices=sorted(devices), keys=sorted(keys), leases=sorted(leases), team=self.team,
            time=time, version=version))

    def failure(self, request, code, retry, time, signer=None):
        return v.canonical((signer or self.signer).sign(
            "mlk-error", code=code, culprit="test", message="As you wish.", request=hashlib.sha256(request).hexdigest(),
            retry=retry, time=time))


def check(vectors):
    """Opens the vectors: right ones give what they say, wrong ones nothing; those that break a rule are not looked at."""
    count = 0
    for vector in vectors:
        if "rule" in vector:
            continue
        key = vector["serviceKey"]
        try:
            opened = open_lease(
                vector["response"].encode(), vector["request"].encode(), key, bytes.fromhex(vector["recipient"]))
            verify(v.parse(vector["request"].encode())["certificate"], key, "mlk-device-certificate")
            asked = v.parse(vector["request"].encode())
            verify(asked, asked["certificate"]["identity"], "mlk-release-request")
        except Exception as error:  # Whatever a reader without armour stumbles over is a refusal.
            if vector["valid"]:
                raise SystemExit(f"{vector['name']}: {error!r}") from error
            opened = None
        if not vector["valid"] and opened is not None:
            raise SystemExit(f"{vector['name']}: accepted")
        if vector["valid"] and opened.hex() != vector["contentKey"]:
            raise SystemExit(f"{vector['name']}: another key")
        count += 1
    return count
