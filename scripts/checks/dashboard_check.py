"""Drives the dashboard of a deployment server: see scripts/checks/dashboard-check."""

import base64
import hashlib
import hmac
import json
import math
import os
import pathlib
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

import axe_core_python
from playwright.sync_api import sync_playwright

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
SIZES = {"desktop": (1280, 860), "phone": (390, 844)}
LARGEST_SCRIPT = 40_000
# The sum of shifts of the layout that nobody asked for.
JUMPS = """() => new Promise(resolve => {
    let sum = 0;
    new PerformanceObserver(list => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value; })
        .observe({type: "layout-shift", buffered: true});
    setTimeout(() => resolve(sum), 60);
})"""


class Server:
    """A server on a folder of its own."""

    def __init__(self, program, folder):
        self.folder = folder
        self.log = open(folder / "server.log", "w+")
        self.process = subprocess.Popen(
            [program, "serve", "--data", folder / "data", "--port", "0"], stdout=self.log, stderr=subprocess.STDOUT
        )
        for _ in range(200):
            text = (folder / "server.log").read_text()
            if "To begin" in text:
                break
            time.sleep(0.05)
        self.address = re.search(r"Listening at (\S+)", text)[1]
        self.link = re.search(r"To begin, open (\S+)", text)[1]

    def stop(self):
        """Ends it while pages are open, which must not keep it from ending."""
        self.process.terminate()
        try:
            return self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "not in 15 seconds"


def make_archives(tools, folder):
    """Two generations of a classifier and of an effect, as the demonstration has them."""
    run = lambda *command: subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    archives = {}
    for version in (1, 2):
        model = folder / f"Classifier{version}.mlmodel"
        run(tools / "FlowerGarden", model, folder / "pictures", version + 1, f"{version}.0")
        effect = folder / f"Effects{version}.mlmodel"
        run(tools / "FlowerGarden", "effect", ("spring", "night")[version - 1], effect, f"{version}.0")
        for name, file in (("FlowerClassifier", model), ("FlowerEffects", effect)):
            archive = folder / f"{name}-{version}.mlarchive"
            run(tools / "coreml", "archive", file, "-o", archive)
            archives[name, version] = archive
            archives["model", name, version] = file
    return archives


def encrypt(tools, page, address, archives, folder):
    """The second generation anew, encrypted with the key that the page gives."""
    page.goto(address + "/teams/acme/keys")
    with page.expect_download() as download:
        page.get_by_role("link", name="acme.mlmodelkey").click()
    key = folder / "acme.mlmodelkey"
    download.value.save_as(key)
    encrypted = {}
    for name in ("FlowerClassifier", "FlowerEffects"):
        encrypted[name] = folder / f"{name}-2-encrypted.mlarchive"
        command = [tools / "coreml", "archive", archives["model", name, 2], "--encrypt", key, "-o", encrypted[name]]
        subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    return encrypted


class Guard:
    """Collects what must not happen on any page, and takes pictures."""

    def __init__(self, page, out, theme, size):
        self.page, self.out, self.theme, self.size = page, out, theme, size
        self.problems, self.count, self.expected = [], 0, None
        page.on("console", self.console)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("requestfailed", self.failed)

    def failed(self, request):
        if "/events" not in request.url and "ERR_ABORTED" not in (request.failure or ""):
            self.problems.append(f"failed: {request.url} {request.failure}")

    def console(self, message):
        if message.type not in ("error", "warning") or (self.expected and self.expected in message.text):
            return
        self.problems.append(f"console: {message.text}")

    def look(self, name, axe=True):
        """Takes a picture of the page, and holds it against axe and its own width."""
        page = self.page
        page.wait_for_timeout(150)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        if wide > 0:
            self.problems.append(f"{name}: {wide} pixels too wide")
        if axe:
            page.evaluate(AXE)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            for each in found:
                if each["impact"] in ("serious", "critical"):
                    for node in each["nodes"][:3]:
                        self.problems.append(f"{name}: {each['id']}: {node['html'][:180]}")
        jump = page.evaluate(JUMPS)
        if jump > 0.05:
            self.problems.append(f"{name}: the layout jumps by {jump:.3f}")
        page.evaluate("scrollTo(0, 0)")
        self.count += 1
        page.screenshot(path=self.out / f"{self.theme}-{self.size}-{self.count:02}-{name}.png", full_page=True)


def click(page, name, role="button"):
    page.get_by_role(role, name=name, exact=True).first.click()


def upload(page, files):
    page.locator("[data-upload] input[type=file]").set_input_files([str(file) for file in files])
    page.locator("[data-uploaded] .archive").nth(len(files) - 1).wait_for(timeout=30_000)
    page.wait_for_function("document.querySelectorAll('.uploads li').length === 0")


def drop(page, files):
    """Drops files where they can be dropped."""
    contents = [[file.name, list(file.read_bytes())] for file in files]
    data = page.evaluate_handle(
        """files => {
            const data = new DataTransfer();
            for (const [name, bytes] of files) data.items.add(new File([new Uint8Array(bytes)], name));
            return data;
        }""",
        contents,
    )
    for event in ("dragenter", "dragover", "drop"):
        page.dispatch_event(".drop", event, {"dataTransfer": data})
    page.locator("[data-uploaded] .archive").nth(len(files) - 1).wait_for(timeout=30_000)


def flow(server, page, guard, tools, archives, folder):
    """The whole way of a deployment, in the browser only."""
    page.goto(server.link)
    guard.look("welcome")
    click(page, "Sign in")
    page.wait_for_url("**/teams")
    guard.look("no-team")
    click(page, "New team", "link")
    page.get_by_label("Name in addresses").fill("Not a name!")
    guard.expected = "400"
    click(page, "Make the team")
    page.locator(".field-error", has_text="letters a–z").wait_for()
    guard.look("wrong-name")
    guard.expected = None
    page.get_by_label("Name in addresses").fill("acme")
    page.get_by_label("Name for people").fill("Acme Flowers")
    assert "team create acme --name 'Acme Flowers'" in page.locator("[data-command]").first.text_content()
    click(page, "Make the team")
    page.wait_for_url("**/teams/acme?done=team")
    guard.look("first-steps")
    click(page, "New app", "link")
    page.get_by_label("Name in addresses").fill("shop")
    page.get_by_label("Name for people").fill("Flower Shop")
    page.get_by_label("Environments").fill("production\nstaging")
    guard.look("new-app")
    click(page, "Make the app")
    page.wait_for_url("**/apps/shop?done=app")
    guard.look("app-empty")
    page.goto(server.address + "/teams/acme/archives")
    guard.look("archives-empty")
    broken = folder / "broken.mlarchive"
    broken.write_bytes(b"nothing of the kind" * 10)
    guard.expected = "400"
    page.locator("[data-upload] input[type=file]").set_input_files(str(broken))
    page.locator(".uploads .alert").wait_for()
    guard.look("upload-refused")
    guard.expected = None
    page.reload()
    upload(page, [archives["FlowerClassifier", 1], archives["FlowerEffects", 1]])
    page.locator("[data-uploaded] details summary").first.click()
    guard.look("archives")
    page.locator(".archive .cover").first.click()
    page.wait_for_selector("h1")
    guard.look("archive")
    page.goto(server.address + "/apps/shop")
    click(page, "New collection", "link")
    page.get_by_label("Identifier").fill("FlowerModels")
    page.get_by_label("Models").fill("FlowerClassifier\nFlowerEffects")
    page.get_by_label("Description").fill("Tells flowers apart, and tints their pictures.")
    click(page, "Make the collection")
    page.wait_for_url("**/collections/FlowerModels?done=collection")
    guard.look("collection-empty")
    click(page, "New release", "link")
    page.get_by_label("Release notes").fill("The first flowers")
    page.get_by_label("Measurements").fill("accuracy 0.91")
    guard.look("new-release")
    click(page, "Make and sign release 1")
    page.wait_for_url("**/releases/1?done=release")
    guard.look("release")
    encrypted = encrypt(tools, page, server.address, archives, folder)
    page.goto(server.address + "/apps/shop/collections/FlowerModels/releases/new")
    drop(page, list(encrypted.values()))
    page.get_by_label("Release notes").fill("Trained on the spring photographs too")
    page.get_by_label("Measurements").fill("accuracy 0.94")
    guard.look("second-release")
    click(page, "Make and sign release 2")
    page.wait_for_url("**/releases/2?done=release")
    click(page, "Compare with release 1", "link")
    page.get_by_role("heading", name="Differences").wait_for()
    guard.look("compare")
    page.goto(server.address + "/apps/shop/collections/FlowerModels/deployments/new")
    page.get_by_label("Name", exact=True).fill("First flowers")
    page.get_by_role("group", name="All devices").get_by_label("The release they get", exact=True).select_option("1")
    click(page, "＋ Add a rule")
    rule = page.get_by_role("group", name="Rule 1")
    rule.get_by_label("Name of rule 1").fill("tablets")
    assert rule.get_by_label("Attribute").input_value() == "deviceClass"
    assert rule.get_by_label("Value").input_value() == "tablet"
    rule.get_by_label("The release they get", exact=True).select_option("2")
    page.locator("#d-deviceClass").select_option("tablet")
    page.locator(".verdict .headline", has_text="Release 2").wait_for()
    page.locator("#d-deviceClass").select_option("phone")
    page.locator(".verdict .headline", has_text="Release 1").wait_for()
    page.locator("#d-deviceClass").select_option("tablet")
    page.locator(".verdict .headline", has_text="Release 2").wait_for()
    assert "deviceClass is tablet: 2" in page.locator("#preview-more [data-command]").first.text_content()
    guard.look("maker")
    click(page, "Save as a draft")
    page.wait_for_url("**/deployments/*?done=deployment")
    guard.look("draft")
    deployment = re.search(r"/deployments/([0-9a-z]+)", page.url)[1]
    for operation, word in (("Activate", "Live"), ("Pause", "Paused"), ("Resume", "Live"), ("Halt", "Halted")):
        click(page, operation, "link")
        page.get_by_role("heading", name="Consequences").wait_for()
        guard.look(f"confirm-{operation.lower()}")
        click(page, operation)
        page.locator("h1 .chip", has_text=word).wait_for()
        if operation == "Activate":
            guard.look("live")
    guard.look("halted")
    page.goto(server.address + "/apps/shop/collections/FlowerModels/history")
    guard.look("history")
    page.goto(server.address + "/teams/acme/audit")
    for word in ("deployment.activate", "deployment.pause", "deployment.resume", "deployment.halt", "release.create", "archive.upload"):
        assert page.get_by_text(word, exact=True).count() > 0, word
    guard.look("audit")
    page.get_by_label("What", exact=True).select_option("deployment")
    click(page, "Filter")
    page.wait_for_url("**action=deployment**")
    assert page.get_by_text("release.create").count() == 0
    return deployment


def sketch(devices):
    """A HyperLogLog sketch of so many devices, as the server stores it."""
    registers = bytearray(4096)
    for device in devices:
        number = int.from_bytes(hashlib.sha256(str(device).encode()).digest()[:8], "big")
        index, rest = number >> 52, (number << 12) & (2**64 - 1)
        registers[index] = max(registers[index], min(64 - rest.bit_length(), 52) + 1)
    return bytes(registers)


def seed_reports(server):
    """Seven days of reports of about 4,000 devices: release 2 takes over from release 1 and sometimes fails."""
    base = sqlite3.connect(server.folder / "data/server.sqlite", timeout=10)
    now = int(time.time() // 3600)
    place = ("shop", "FlowerModels", "production")
    with base:
        for slot in range(28):
            hour = now - 6 * (27 - slot)
            share = 1 / (1 + math.exp(-(slot - 14) / 3.2))
            awake = 900 + 90 * math.sin(slot * math.pi / 2) + 25 * slot
            for release, part in ((0, 0.08), (1, 0.92 * (1 - share)), (2, 0.92 * share)):
                count = int(awake * part)
                devices = range(release * 10_000 + slot * 40, release * 10_000 + slot * 40 + count)
                base.execute("INSERT INTO report_devices VALUES (?, ?, ?, ?, ?, ?)", (*place, hour, release, sketch(devices)))
        rows = []
        for event, reason, system, kind, count in (
            ("offered", "", "iPadOS", "tablet", 2640), ("downloaded", "", "iPadOS", "tablet", 2512), ("verified", "", "iPadOS", "tablet", 2509),
            ("activated", "", "iPadOS", "tablet", 2318), ("loaded", "", "iPadOS", "tablet", 2280), ("failed", "load", "iPadOS", "tablet", 11),
            ("failed", "download", "iPadOS", "tablet", 34), ("offered", "", "Linux", "server", 104), ("downloaded", "", "Linux", "server", 104),
            ("verified", "", "Linux", "server", 100), ("activated", "", "Linux", "server", 98), ("loaded", "", "Linux", "server", 96), ("failed", "selfTest", "Linux", "server", 4),
        ):
            rows.append((*place, now, 2, event, reason, system, kind, count))
        for event, count in (("downloaded", 1240), ("verified", 1240), ("activated", 1214), ("loaded", 1201)):
            rows.append((*place, now, 1, event, "", "iOS", "phone", count))
        base.executemany("INSERT INTO report_counts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    base.close()


def wait_for_counter(server, page):
    """More devices report; the page says so without being loaded again."""
    before = page.locator("[data-live=devices]").text_content()
    base = sqlite3.connect(server.folder / "data/server.sqlite", timeout=10)
    with base:
        hour = int(time.time() // 3600) - 1
        base.execute("INSERT INTO report_devices VALUES (?, ?, ?, ?, ?, ?)", ("shop", "FlowerModels", "production", hour, 2, sketch(range(90_000, 90_600))))
    base.close()
    page.wait_for_function("before => document.querySelector('[data-live=devices]').textContent !== before", arg=before, timeout=9000)


def later(server, page, guard, deployment):
    """What there is beside the way: reports, percentages, cloning, tokens, keys, members, errors."""
    page.goto(f"{server.address}/deployments/{deployment}")
    click(page, "Clone", "link")
    page.get_by_label("Name", exact=True).fill("Spring, slowly")
    default = page.get_by_role("group", name="All other devices")
    default.get_by_label("The release they get", exact=True).select_option("2")
    default.get_by_text("Roll out in steps").click()
    default.get_by_label("Steps in percent").fill("1, 5, 25, 95")
    default.get_by_label("Hours at each step").fill("12")
    default.get_by_label("Devices that must run it").fill("500")
    default.get_by_label("The release the others get").select_option("1")
    page.get_by_text("Hold-out group, segments").click()
    page.get_by_label("Held out, in percent").fill("5")
    click(page, "Add a segment")
    page.get_by_label("Install IDs of testers").fill("ann\nben")
    click(page, "＋ Add a rule")
    rule = page.get_by_role("group", name="Rule 2")
    rule.get_by_label("Attribute").select_option("memory")
    rule.get_by_label("Comparison").select_option("atLeast")
    rule.get_by_label("Value").fill("6 GB")
    click_in = rule.get_by_role("button", name="and another condition")
    click_in.click()
    rule.get_by_label("Value").nth(1).fill("17.4")
    page.get_by_role("button", name="Random").click()
    page.locator(".verdict .headline").wait_for()
    page.locator(".diff .added").first.wait_for()
    page.locator("#preview-more summary").click()
    guard.look("maker-full")
    click(page, "Save as a draft")
    page.wait_for_url("**/deployments/*?done=deployment")
    guard.look("draft-with-shares")
    click(page, "Activate", "link")
    page.get_by_role("heading", name="Consequences").wait_for()
    guard.look("confirm-replace")
    click(page, "Activate")
    page.locator("h1 .chip", has_text="Live").wait_for()
    wait_for_counter(server, page)
    for step in (2, 3):
        click(page, "Skip the gate", "link")
        page.get_by_role("heading", name="Consequences").wait_for()
        guard.look("confirm-skip-gate")
        click(page, "Skip the gate")
        page.locator(".chip", has_text=f"Step {step} of 4").wait_for()
    page.get_by_text("Next gate").wait_for()
    page.locator("#d-deviceClass").select_option("tablet")
    page.locator(".verdict .headline", has_text="Release 2").wait_for()
    guard.look("live-with-reports")
    page.goto(server.address + "/apps/shop/collections/FlowerModels")
    guard.look("collection")
    page.goto(server.address + "/apps/shop")
    page.get_by_role("checkbox", name="production").check()
    click(page, "Save")
    page.wait_for_url("**/apps/shop?done=approvals")
    assert page.get_by_role("checkbox", name="production").is_checked()
    guard.look("app")
    page.goto(server.address + "/teams/acme/webhooks")
    page.get_by_label("Address").fill("ftp://chat.example.org")
    guard.expected = "400"
    click(page, "Make the webhook")
    page.locator(".field-error", has_text="https").wait_for()
    guard.expected = None
    page.get_by_label("Address").fill("http://127.0.0.1:9/hook")
    click(page, "Make the webhook")
    page.get_by_text("not shown again").wait_for()
    guard.look("webhook-made")
    page.goto(server.address + "/teams/acme")
    guard.look("team")
    page.goto(server.address + "/teams/acme/keys")
    page.get_by_role("button", name=re.compile("new key|Make a key")).click()
    page.wait_for_url("**/keys?done=key")
    guard.look("keys")
    page.get_by_role("link", name="Revoke key 1").click()
    page.get_by_role("heading", name="Consequences").wait_for()
    guard.look("confirm-revoke")
    click(page, "Revoke")
    page.wait_for_url("**/keys?done=keyRevoked")
    page.goto(server.address + "/teams/acme/members")
    guard.look("members")
    page.get_by_label("Address").fill("kim@example.org")
    page.get_by_role("checkbox", name="viewer").check()
    click(page, "Make the invitation")
    page.get_by_role("heading", name="An invitation for kim@example.org").wait_for()
    guard.look("member-invited")
    page.goto(server.address + "/teams/acme/members")
    page.get_by_role("link", name="Change Administrator").click()
    page.get_by_role("heading", name="Leave the team").wait_for()
    guard.look("member")
    page.goto(server.address + "/teams/acme/tokens")
    page.get_by_label("Purpose").fill("CI of the shop")
    page.get_by_role("checkbox", name="publisher").uncheck()
    page.get_by_role("checkbox", name="viewer").check()
    click(page, "Make the token")
    page.get_by_text("not shown again").wait_for()
    token = page.locator(".made code").text_content()
    guard.look("token-made")
    guard.expected = "404"
    page.goto(server.address + "/apps/nothing")
    page.get_by_role("heading", name="Nothing exists here").wait_for()
    guard.look("not-found")
    guard.expected = None
    page.locator(".account summary").click()
    guard.look("account")
    secure(page, guard)
    page.get_by_label("Link or token").fill("mlk_api_wrong")
    guard.expected = "401"
    click(page, "Sign in with a link or token")
    page.locator(".field-error", has_text="wrong").wait_for()
    guard.look("sign-in-refused")
    guard.expected = None
    page.get_by_label("Link or token").fill(token)
    click(page, "Sign in with a link or token")
    page.wait_for_url("**/teams/acme")
    page.goto(server.address + "/apps/shop/collections/FlowerModels")
    if page.get_by_role("link", name="New release").count() or page.get_by_role("link", name="New deployment").count():
        guard.problems.append("a viewer sees buttons")
    guard.look("viewer")


def one_time_code(key, offset=0):
    """RFC 6238, by Python."""
    secret = base64.b32decode(key.replace(" ", ""))
    digest = hmac.digest(secret, struct.pack(">Q", int(time.time() // 30) + offset), "sha1")
    place = digest[19] & 15
    return f"{(int.from_bytes(digest[place:place + 4], 'big') & 0x7FFFFFFF) % 10**6:06}"


def secure(page, guard):
    """A password and an authenticator, then out, and in again with both."""
    password = "four herons under a kite"
    click(page, "Sign-in settings", "link")
    guard.look("sign-in-methods")
    page.get_by_label("New password").fill("too short")
    page.get_by_label("Once more").fill("too short")
    page.get_by_label("New password").evaluate("each => each.removeAttribute('minlength')")
    guard.expected = "400"
    click(page, "Save the password")
    page.locator(".field-error", has_text="12 characters").wait_for()
    guard.look("password-refused")
    guard.expected = None
    page.get_by_label("New password").fill(password)
    page.get_by_label("Once more").fill(password)
    click(page, "Save the password")
    page.get_by_text("signed out everywhere else", exact=False).first.wait_for()
    click(page, "Set an authenticator up")
    key = page.locator("section:has(#h-factor) code").text_content()
    guard.look("authenticator")
    page.get_by_label("Code from the authenticator").fill(one_time_code(key))
    click(page, "Activate the authenticator")
    page.get_by_role("heading", name="Your recovery codes").wait_for()
    recovery = page.locator(".made code").text_content().split()
    assert len(recovery) == 10, recovery
    guard.look("recovery-codes")
    page.locator(".account summary").click()
    click(page, "Sign out")
    guard.look("sign-in")
    page.get_by_label("Address").fill("admin@localhost")
    page.get_by_label("Password").fill(password)
    guard.expected = "401"
    click(page, "Sign in")
    page.locator(".field-error", has_text="A code of your authenticator").wait_for()
    guard.look("code-needed")
    guard.expected = None
    page.get_by_label("Password").fill(password)
    page.get_by_label("Code").fill(recovery[0])
    click(page, "Sign in")
    page.wait_for_url("**/teams**")
    page.locator(".account summary").click()
    click(page, "Sign out")


def keyboard(server, browser, archives):
    """The main way by keys alone: no pointer, and focus that can be seen on every stop."""
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    problems = []

    def go(name, limit=80):
        """Presses Tab until something of this name has the focus."""
        for _ in range(limit):
            page.keyboard.press("Tab")
            seen = page.evaluate("""() => {
                const element = document.activeElement;
                const label = element.getAttribute("aria-label") || [...(element.labels || [])].map(each => each.textContent).join(" ") || element.textContent;
                const style = getComputedStyle(element), after = getComputedStyle(element, "::after"), around = element.parentElement ? getComputedStyle(element.parentElement) : style;
                return [label.trim(), [style, after, around].some(each => each.outlineStyle !== "none"), element.outerHTML.slice(0, 120)];
            }""")
            if not seen[1] and not seen[2].startswith("<body"):
                problems.append(f"no focus to be seen on {seen[2]}")
            if seen[0].startswith(name):
                return
        raise AssertionError(f"{name} cannot be reached with Tab on {page.url}")

    def press(name, key="Enter"):
        go(name)
        page.keyboard.press(key)

    def write(name, text):
        go(name)
        page.keyboard.press("Control+A")
        page.keyboard.type(text)

    page.goto(server.link)
    page.keyboard.press("Enter")
    page.wait_for_url("**/teams")
    press("New team")
    page.wait_for_url("**/teams/new")
    write("Name in addresses", "keys")
    press("Make the team")
    page.wait_for_url("**/teams/keys**")
    press("New app")
    page.wait_for_url("**/apps/new")
    write("Name in addresses", "garden")
    press("Make the app")
    page.wait_for_url("**/apps/garden**")
    press("New collection")
    page.wait_for_url("**/collections/new")
    write("Identifier", "Plants")
    write("Models", "FlowerClassifier")
    press("Make the collection")
    page.wait_for_url("**/collections/Plants**")
    press("New release")
    page.wait_for_url("**/releases/new")
    go("Choose files")
    # The dialog of files is the system's; what it gives is given here.
    upload(page, [archives["FlowerClassifier", 1]])
    page.reload()
    press("Make and sign release 1")
    page.wait_for_url("**/releases/1**")
    press("Deploy this release")
    page.wait_for_url("**/deployments/new**")
    page.wait_for_selector(".default-card")
    write("Name", "By keys")
    press("＋ Add a rule")
    go("The release they get")
    press("Save as a draft")
    page.wait_for_url("**/deployments/**done=deployment")
    for operation, word in (("Activate", "Live"), ("Pause", "Paused"), ("Resume", "Live"), ("Halt", "Halted")):
        press(operation)
        page.get_by_role("heading", name="Consequences").wait_for()
        page.keyboard.press("Enter")
        page.locator("h1 .chip", has_text=word).wait_for()
    press("Audit log")
    page.wait_for_url("**/audit")
    page.close()
    return problems


def check_head(server):
    """The headers of a page, and what its script weighs."""
    import urllib.request

    problems = []
    with urllib.request.urlopen(server.address + "/sign-in") as answer:
        policy, text = answer.headers["Content-Security-Policy"], answer.read().decode()
    for word in ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"):
        if word not in policy:
            problems.append(f"the policy lacks {word}")
    if "unsafe" in policy or re.search(r"<(script(?![^>]*src=)|style)|\sstyle=|\son\w+=", text):
        problems.append("script or style within a page")
    scripts = re.findall(r'src="(/files/[^"]+\.js)"', text)
    total = 0
    for script in scripts:
        with urllib.request.urlopen(server.address + script) as answer:
            total += len(answer.read())
    print(f"script: {total} bytes of {LARGEST_SCRIPT}")
    if not 0 < total <= LARGEST_SCRIPT:
        problems.append(f"the script has {total} bytes")
    return problems


def main():
    tools, program, out = map(pathlib.Path, sys.argv[1:4])
    wanted = sys.argv[4:]
    out.mkdir(parents=True, exist_ok=True)
    for picture in out.glob("*.png"):
        if not wanted or picture.name.startswith(wanted[0].replace(" ", "-")):
            picture.unlink()
    work = pathlib.Path(tempfile.mkdtemp(prefix="dashboard-check-"))
    failed = False
    try:
        (work / "archives").mkdir()
        archives = make_archives(tools, work / "archives")
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
            runs = [(theme, size) for theme in ("light", "dark") for size in SIZES]
            for theme, size in runs + [("keyboard", "")]:
                name = f"{theme} {size}".strip()
                if wanted and name not in wanted:
                    continue
                folder = work / f"{theme}-{size}"
                folder.mkdir()
                server = Server(program, folder)
                problems = []
                guard = None
                try:
                    if theme == "keyboard":
                        problems += check_head(server) + keyboard(server, browser, archives)
                    else:
                        context = browser.new_context(
                            viewport=dict(zip(("width", "height"), SIZES[size])), color_scheme=theme, reduced_motion="reduce"
                        )
                        page = context.new_page()
                        page.set_default_timeout(10_000)
                        guard = Guard(page, out, theme, size)
                        deployment = flow(server, page, guard, tools, archives, folder)
                        seed_reports(server)
                        later(server, page, guard, deployment)
                except Exception as error:  # One run that fails must not hide the others.
                    problems.append(f"{type(error).__name__}: {str(error)[:700]}")
                    if guard:
                        guard.page.screenshot(path=out / f"{theme}-{size}-failed.png", full_page=True)
                if guard:
                    problems += guard.problems
                status = server.stop()
                if status != 0:
                    problems.append(f"the server ended with {status}: {(folder / 'server.log').read_text()[-500:]}")
                print(f"{name}: good" + (f", {guard.count} pages" if guard else "") if not problems else "\n  ".join([f"{name}:", *dict.fromkeys(problems)]), flush=True)
                failed |= bool(problems)
            browser.close()
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 1 if failed else 0


sys.exit(main())
