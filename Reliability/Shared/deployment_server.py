"""Helpers for scripts that try the server: starting it, requests, and sample archives."""
import base64
import hashlib
import http.client
import json
import pathlib
import re
import signal
import subprocess
import time
import urllib.parse

import os

ROOT = pathlib.Path(__file__).resolve().parents[2]


def program():
    """The server's program, built in the release configuration, or the one that COREML_SERVER names."""
    return os.environ.get("COREML_SERVER") or built("coreml-server")


def product(name):
    """Another program of the server's package, built in the release configuration, or the one that COREML_NAME names."""
    return os.environ.get("COREML_" + name.upper()) or built(name)


def built(name):
    folder = subprocess.run([ROOT / "scripts/programs", "--server", name], check=True, stdout=subprocess.PIPE, text=True).stdout
    return f"{folder.strip()}/{name}"


def archive(name="plain"):
    """An archive of a model, of the vectors of Documentation/Formats/mlarchive.md."""
    vectors = json.loads((ROOT / "Documentation/Formats/vectors/mlarchive.json").read_text())["vectors"]
    parts = next(v["archive"] for v in vectors if v["name"] == name)
    return b"".join(bytes(p) if isinstance(p, int) else base64.b64decode(p) for p in parts)


class Refused(Exception):
    """An answer that is no success."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:300]}")
        self.status = status


class Server:
    """A server that runs; `with` ends it."""

    def __init__(self, program, *arguments, environment=None, log=None, through=()):
        start = time.monotonic()
        self.errors = open(log, "ab") if log else subprocess.DEVNULL
        self.process = subprocess.Popen([*through, program, "serve", "--port", "0", *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True, env=dict(os.environ, **(environment or {})))
        self.link = None
        self.port = None
        # The line about the link comes with the one about the port.
        for line in self.process.stdout:
            if match := re.match(r"Listening at https?://[^:]+:(\d+)", line):
                self.port = int(match[1])
                break
        if self.port is None:
            raise RuntimeError(f"the server ended with {self.process.wait()}")
        self.start_time = time.monotonic() - start

    def first_link(self):
        line = self.process.stdout.readline()
        return re.search(r"/sign-in/(\w+)", line)[1]

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # The child of a program that was started through another one.
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], stdout=subprocess.PIPE, text=True).stdout.split()
        os.kill(int(children[0]) if children else self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


class Client:
    """Speaks to a server at a port of this machine; one connection, made anew when it was lost."""

    def __init__(self, port, token=None, timeout=30, trusting=None):
        """trusting: an ssl.SSLContext, for a server that speaks TLS."""
        self.port, self.token, self.timeout, self.trusting = port, token, timeout, trusting
        self.connection = None

    def send(self, method, path, body=None, headers={}):
        if self.connection is None:
            self.connection = (
                http.client.HTTPSConnection("localhost", self.port, timeout=self.timeout, context=self.trusting)
                if self.trusting else http.client.HTTPConnection("127.0.0.1", self.port, timeout=self.timeout))
        headers = dict(headers)
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        try:
            self.connection.request(method, path, body=body, headers=headers)
            answer = self.connection.getresponse()
            data = answer.read()
        except Exception:
            self.connection.close()
            self.connection = None
            raise
        if answer.status >= 300:
            raise Refused(answer.status, data.decode(errors="replace"))
        return data

    def json(self, method, path, body=None):
        data = self.send(method, "/api/v1/" + path, body)
        return json.loads(data) if data else None

    def sign_in(self, link):
        self.token = self.json("POST", "sessions", {"link": link})["text"]

    def upload(self, kind, data, digest, team="acme"):
        return json.loads(self.send("POST", f"/api/v1/teams/{team}/{kind}?sha256={digest}&name=x", data))

    def deploy(self, team="acme", app="shop", collection="Flowers"):
        """Makes a team with an app and a collection of one model, of which a release is live; returns the path of its policy."""
        self.json("POST", "teams", {"id": team})
        self.json("POST", f"teams/{team}/apps", {"id": app})
        self.json("POST", f"apps/{app}/collections", {"id": collection, "models": ["Classifier"]})
        model = archive()
        name = hashlib.sha256(model).hexdigest()
        self.upload("archives", model, name, team)
        self.json("POST", f"apps/{app}/collections/{collection}/releases", {"models": {"Classifier": {"archive": name}}})
        made = self.json("POST", f"apps/{app}/collections/{collection}/deployments", {"definition": {"default": 1, "rules": []}})
        self.json("POST", f"deployments/{made['id']}/activate")
        return f"/v1/apps/{app}/environments/production/collections/{collection}/policy.json"


def certificate(folder, name="localhost"):
    """Makes an authority and a certificate of its own for a host, by openssl; returns the paths of chain, key and authority."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    for who in ("authority", "server"):
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{who}.key")
    openssl("req", "-x509", "-new", "-key", "authority.key", "-days", "2", "-subj", "/CN=Authority", "-out", "authority.pem")
    openssl("req", "-new", "-key", "server.key", "-subj", f"/CN={name}", "-out", "server.csr")
    (pathlib.Path(folder) / "server.ext").write_text(f"subjectAltName=DNS:{name}\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial", "-days", "2",
            "-extfile", "server.ext", "-out", "server.pem")
    return [str(pathlib.Path(folder) / file) for file in ("server.pem", "server.key", "authority.pem")]
