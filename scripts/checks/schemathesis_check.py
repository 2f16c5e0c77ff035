"""Starts a server with something of everything in it, and lets schemathesis ask it."""
import argparse
import base64
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]


# Requests whose schema is right may still be wrong: they hold what was signed or hashed, or name something else that exists.
BEYOND_SCHEMAS = """
[[operations]]
include-operation-id = [
  "uploadArchive", "uploadDelta", "uploadVectors", "createRelease", "createDeployment", "editDeployment",
  "setApprovals", "report", "replaceTrust", "signReleases", "challenge", "enroll", "renew", "releaseKey", "blob",
]
checks.positive_data_acceptance.enabled = false

# A body may be too large before it is looked at.
[checks]
negative_data_rejection.expected-statuses = [
  "400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx",
]
"""


class Server:
    """A fresh server, which the administrator is signed in to."""

    def __init__(self, program, folder):
        self.log = open(folder / "log", "w+")
        self.process = subprocess.Popen(
            [program, "serve", "--data", folder / "data", "--port", "0"], stdout=self.log, stderr=subprocess.STDOUT
        )
        for _ in range(200):
            text = pathlib.Path(self.log.name).read_text()
            if link := re.search(r"open (http://\S+)/sign-in/(\w+)", text):
                break
            time.sleep(0.05)
        else:
            sys.exit("schemathesis: the server does not start: " + text)
        self.address = link[1]
        self.session = self.post("sessions", {"link": link[2]})["text"]

    session = None

    def send(self, method, path, body=None, kind="application/json"):
        request = urllib.request.Request(f"{self.address}/api/v1/{path}", data=body, method=method)
        request.add_header("Content-Type", kind)
        if self.session:
            request.add_header("Authorization", f"Bearer {self.session}")
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def post(self, path, body):
        return self.send("POST", path, json.dumps(body).encode())


def archive():
    """An archive of the published vectors."""
    vectors = json.loads((ROOT / "Documentation/Formats/vectors/mlarchive.json").read_text())["vectors"]
    parts = next(vector for vector in vectors if vector["name"] == "plain")["archive"]
    return b"".join(bytes(part) if isinstance(part, int) else base64.b64decode(part) for part in parts)


def fill(server):
    """Makes a team with something of everything.

    The result are the names in paths, and a token of the team's owner.
    """
    server.post("teams", {"id": "acme"})
    server.post("teams/acme/apps", {"id": "shop"})
    server.post("apps/shop/collections", {"id": "Flowers", "models": ["Classifier"]})
    stored = server.send("POST", "teams/acme/archives?name=a", archive(), "application/octet-stream")
    collection = "apps/shop/collections/Flowers"
    release = server.post(f"{collection}/releases", {"models": {"Classifier": {"archive": stored["sha256"]}}})
    deployment = server.post(f"{collection}/deployments", {"definition": {"rules": [], "default": 1}})
    server.post(f"deployments/{deployment['id']}/activate", {})
    token = server.post("teams/acme/tokens", {"name": "schemathesis", "roles": ["owner"]})["text"]
    return token, {
        "team": "acme", "app": "shop", "collection": "Flowers", "environment": "production", "number": 1,
        "deployment": deployment["id"], "sha256": stored["sha256"], "digest": stored["sha256"],
        "path": f"apps/shop/collections/Flowers/{release['sha256']}.1.json", "file": "timestamp.json",
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("schemathesis")
    parser.add_argument("--examples", type=int, default=200)
    arguments, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server(arguments.server, folder)
        try:
            token, names = fill(server)
            configuration = folder / "schemathesis.toml"
            lines = [f'"path.{name}" = {json.dumps(value)}' for name, value in names.items()]
            configuration.write_text("[parameters]\n" + "\n".join(lines) + "\n" + BEYOND_SCHEMAS)
            anywhere = folder / "anywhere.toml"
            anywhere.write_text(BEYOND_SCHEMAS)

            def run(configuration, token, *options):
                return subprocess.run(
                    [
                        str(pathlib.Path(arguments.schemathesis).absolute()), "--config-file", configuration, "run",
                        f"{server.address}/api/v1/openapi.yaml", "--header", f"Authorization: Bearer {token}",
                        "--max-examples", str(arguments.examples), "--seed", "16",
                        "--warnings", "off", *options, *rest,
                    ],
                    cwd=folder,
                ).returncode

            # With names that exist; with any names; and as an administrator. The token that asks is not revoked, nor the
            # administrator signed out.
            failed = run(configuration, token, "--exclude-operation-id", "revokeToken")
            failed |= run(anywhere, token, "--exclude-operation-id", "revokeToken")
            failed |= run(anywhere, server.session, "--include-operation-id", "createTeam")
            if server.process.poll() is not None:
                sys.exit("schemathesis: the server has ended: " + pathlib.Path(server.log.name).read_text())
            sys.exit(failed)
        finally:
            server.process.terminate()
            server.process.wait()


main()
