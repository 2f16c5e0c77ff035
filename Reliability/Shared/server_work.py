"""Work for a server that is interrupted: what is done, how to see that it was, and how to look at what is left."""
import hashlib
import os
import random
import sqlite3
import subprocess
import json
import time

import deployment_server as server

MODEL = server.archive()
HASH = hashlib.sha256(MODEL).hexdigest()


def make_base(program, folder):
    """A server's folder two hours old, so that the next start signs anew; the token to speak to it, and a deployment."""
    with server.Server(program, "--data", folder, through=["faketime", "-f", "-2h"]) as running:
        client = server.Client(running.port)
        client.sign_in(running.first_link())
        client.json("POST", "teams", {"id": "acme"})
        client.json("POST", "teams/acme/apps", {"id": "shop"})
        client.json("POST", "apps/shop/collections", {"id": "Flowers", "models": ["Classifier"]})
        client.upload("archives", MODEL, HASH)
        client.json("POST", "apps/shop/collections/Flowers/releases", {"models": {"Classifier": {"archive": HASH}}})
        deployment = client.json("POST", "apps/shop/collections/Flowers/deployments", {"definition": {"default": 1, "rules": []}})
        client.json("POST", f"deployments/{deployment['id']}/activate")
        return client.json("POST", "teams/acme/tokens", {"name": "t", "roles": ["owner"]})["text"], deployment["id"]


# --- Kinds of work: each returns how to see that it was done ---

def upload(client):
    data = b"PK\x03\x04" + os.urandom(random.choice([100, 300_000]))
    name = hashlib.sha256(data).hexdigest()
    client.upload("vectors", data, name)
    return lambda c: c.send("GET", f"/b/sha256/{name}") == data


def archive(client):
    data = server.archive("small pieces")
    name = hashlib.sha256(data).hexdigest()
    client.upload("archives", data, name)
    return lambda c: c.json("GET", f"teams/acme/archives/{name}")["sha256"] == name and c.send("GET", f"/b/sha256/{name}") == data


def publish(client):
    path = "apps/shop/collections/Flowers/releases"
    number = client.json("POST", path, {"models": {"Classifier": {"archive": HASH}}, "note": "n"})["number"]
    return lambda c: c.json("GET", f"{path}/{number}")["number"] == number


def deploy(client):
    made = client.json("POST", "apps/shop/collections/Flowers/deployments", {"definition": {"default": 1, "rules": []}, "name": "d"})
    client.json("POST", f"deployments/{made['id']}/activate")

    def is_there(client):
        state = client.json("GET", f"deployments/{made['id']}")["state"]
        policy = client.send("GET", "/v1/apps/shop/environments/production/collections/Flowers/policy.json")
        return state == "replaced" or (state == "active" and made["id"].encode() in policy)

    return is_there


def rotate(client):
    key = client.json("POST", "teams/acme/keys")["id"]
    return lambda c: key in [k["id"] for k in c.json("GET", "teams/acme/keys")]


def sign(client):
    # The server signs by itself when it starts; the answer says that it did.
    path = "/v1/trust/acme/metadata/timestamp.json"
    time.sleep(0.05)
    before = client.send("GET", path)
    return lambda c: version(c.send("GET", path)) >= version(before)


def version(document):
    return json.loads(document)["signed"]["version"]


WORK = {"upload": upload, "archive": archive, "publish": publish, "deploy": deploy, "rotate": rotate, "sign": sign}


def look(program, label, folder, token, acknowledged, deployment, fail):
    """Starts the server again and looks whether all is there that was acknowledged, and that it goes on working.

    `deployment`: one that was there before; `None` where nothing was.  Returns seconds until the server was ready.
    """
    ready = 0.0
    try:
        with server.Server(program, "--data", folder) as running:
            ready = running.start_time
            if ready > 2:
                fail(f"{label}: ready after {ready:.2f} s")
            client = server.Client(running.port, token)
            for number, is_there in enumerate(acknowledged, 1):
                if not is_there(client):
                    fail(f"{label}: the answer {number} was given, and what it said is not there")
            if deployment is not None and client.json("GET", f"deployments/{deployment}")["state"] == "active":
                client.json("POST", f"deployments/{deployment}/pause")
    except (RuntimeError, server.Refused, OSError, server.http.client.HTTPException) as error:
        fail(f"{label}: {error!r}")
    found = subprocess.run([program, "check", "--data", folder], capture_output=True, text=True)
    if found.returncode:
        fail(f"{label}: {found.stdout}{found.stderr}")
    with sqlite3.connect(folder / "server.sqlite") as database:
        if (answer := database.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            fail(f"{label}: SQLite says {answer}")
    return ready
