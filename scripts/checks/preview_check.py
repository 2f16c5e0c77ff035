"""Drives the page of `coreml preview`: see scripts/checks/preview-check."""

import json
import pathlib
import subprocess
import sys

import axe_core_python
from playwright.sync_api import sync_playwright

import preview_models

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
# A camera and a microphone that Chromium makes up.
DEVICES = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
SIZES = {"desktop": (1440, 900), "phone": (360, 780)}


def answered(page, text=None):
    """Waits for an answer that is not the last one any more."""
    page.wait_for_selector("[aria-label=Answer] > .answer:not(.stale) :is(.headline, .card, .ranking, .tagged, .compare)", timeout=30_000)
    if text is not None:
        page.locator("[aria-label=Answer]").filter(has_text=text).wait_for(timeout=15_000)


def give(page, path):
    page.locator("input[type=file]").first.set_input_files(str(path))


def stroke(page, points):
    """Draws a line on the drawing area, in parts of its size."""
    box = page.locator("canvas.draw:visible").first.bounding_box()
    at = lambda point: (box["x"] + point[0] * box["width"], box["y"] + point[1] * box["height"])
    page.mouse.move(*at(points[0]))
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*at(point), steps=6)
    page.mouse.up()


def picture(text=None, ready=lambda page: None):
    def drive(page, folder):
        give(page, folder / "scene.jpg")
        answered(page, text)
        ready(page)
    return drive


def digits(page, folder):
    # As the scans are that the model learnt from: the digit touches both edges.
    stroke(page, [(.62, .03), (.26, .62), (.80, .62)])
    stroke(page, [(.62, .42), (.54, .97)])
    answered(page, "4")
    page.wait_for_timeout(400)
    assert page.locator(".headline").inner_text().startswith("4"), page.locator(".headline").inner_text()


def ink(page, folder):
    stroke(page, [(.2, .3), (.8, .3), (.8, .7), (.3, .7)])
    answered(page)


def sound(page, folder):
    give(page, folder / "ask-sound.wav")
    answered(page, "Over time")


def camera(page, folder):
    page.get_by_role("button", name="Camera").click()
    page.get_by_role("button", name="Take an image").click(timeout=15_000)
    answered(page, "%")
    page.get_by_role("button", name="Live").click()
    page.wait_for_timeout(800)
    page.get_by_role("button", name="Live").click()
    answered(page, "%")


def microphone(page, folder):
    page.get_by_role("button", name="Record").click()
    page.wait_for_timeout(2500)
    page.get_by_role("button", name="Stop").click()
    answered(page, "Over time")


def recording(page, folder):
    give(page, folder / "ask-recording.csv")
    answered(page, "Over time")


def text(page, folder):
    page.locator("textarea").first.fill("What a wonderful concert, though the dinner was a little dull")
    answered(page)


def tags(page, folder):
    page.locator("textarea").first.fill("Ann and Ben went from Rome to Kyoto. In Lima Carla met Farid.")
    answered(page, "PLACE")


def numbers(page, folder):
    page.get_by_role("spinbutton", name="rooms", exact=True).fill("4")
    page.get_by_role("spinbutton", name="area", exact=True).fill("120")
    answered(page)


def table(page, folder):
    page.get_by_role("button", name="Table").click()
    give(page, folder / "ask-houses.csv")
    answered(page, "40 rows")


def items(page, folder):
    for film in ("Solaris", "Moon"):
        page.get_by_label("an item").first.fill(film)
        page.keyboard.press("Enter")
    answered(page)


def arrays(page, folder):
    page.get_by_role("button", name="Ramp").first.click()
    page.get_by_role("spinbutton", name="gain", exact=True).fill("2")
    answered(page, "spectrum")


def steps(page, folder):
    page.get_by_label("step in JSON").fill("[1, 2, 3, 4]")
    for turn in range(3):
        page.get_by_role("button", name="Predict").click()
        answered(page)
        page.get_by_text(f"{turn + 1} step").wait_for()


def question(page, folder):
    page.get_by_label("Text", exact=True).fill(
        "The iron tower in Paris was built by the engineer Gustave Eiffel and opened in 1889. Every year seven million people "
        "come to see it. The old stone bridge near the river is a museum."
    )
    page.get_by_label("Question").fill("Who was the engineer of the tower?")
    answered(page, "Gustave Eiffel")


def generation(page, folder):
    page.get_by_label("Beginning").fill("The old tower")
    page.get_by_role("button", name="Predict").click()
    page.get_by_text("tokens a second").wait_for(timeout=20_000)
    page.locator("[aria-label=Answer] .chip").wait_for(timeout=30_000)


def teaching(page, folder):
    shapes = {"circle": [(.5, .2), (.75, .35), (.75, .65), (.5, .8), (.25, .65), (.25, .35), (.5, .2)],
              "cross": [(.25, .25), (.5, .5), (.75, .75), (.5, .5), (.75, .25), (.25, .75)],
              "zigzag": [(.2, .3), (.8, .3), (.2, .7), (.8, .7)]}
    page.get_by_role("button", name="Teach", exact=True).first.click()
    for name in shapes:
        page.get_by_label("A new label").fill(name)
        page.get_by_role("button", name="New label").click()
    for name, points in shapes.items():
        for shift in (-.03, 0, .03):
            stroke(page, [(x + shift, y - shift / 2) for x, y in points])
            page.wait_for_timeout(200)
            page.get_by_role("group", name=f"Label {name}").get_by_role("button", name="Add example").click()
            page.wait_for_timeout(100)
    page.get_by_role("button", name="Teach", exact=True).last.click()
    page.get_by_text("Learnt in").first.wait_for(timeout=30_000)


def taught(page, folder):
    teaching(page, folder)
    page.get_by_role("button", name="Try", exact=True).click()
    stroke(page, [(.23, .31), (.77, .29), (.22, .72), (.79, .7)])
    answered(page, "zigzag")


def failing(page, folder):
    """A file that is not a picture: words beside the input."""
    path = folder / "broken.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"nothing" * 20)
    give(page, path)
    page.locator(".field-error:not(:empty)").first.wait_for()


def beside(name):
    def ready(page):
        page.get_by_role("tab", name=name, exact=True).click()
        if name == "Speed":
            page.get_by_role("button", name="Measure").click()
            page.get_by_text("Median").first.wait_for(timeout=20_000)
    return picture("%", ready)


SCENARIOS = {
    "digits": ("Digits.mlmodel", digits), "classifier": ("Classifier.mlmodel", picture("%")),
    "detector": ("Detector.mlmodel", picture("light")), "segmenter": ("Segmenter.mlmodel", picture("sky")),
    "depth": ("Depth.mlmodel", picture("mean")) , "pose": ("Pose.mlmodel", picture("17 points")),
    "style": ("Style.mlmodel", picture("Before")), "sound": ("SoundClassifier.mlmodel", sound),
    "camera": ("Classifier.mlmodel", camera), "microphone": ("SoundClassifier.mlmodel", microphone),
    "activity": ("ActivityClassifier.mlmodel", recording), "text": ("TextClassifier.mlmodel", text),
    "tagger": ("WordTagger.mlmodel", tags), "question": ("Answers.mlpackage", question),
    "generation": ("Generator.mlpackage", generation), "regressor": ("Regressor.mlmodel", numbers), "tabular": ("TabularClassifier.mlmodel", numbers),
    "table": ("Regressor.mlmodel", table), "recommender": ("Recommender.mlmodel", items),
    "arrays": ("Arrays.mlmodel", arrays), "ink": ("Ink.mlmodel", ink), "state": ("Accumulator.mlpackage", steps),
    "teaching": ("Stickers.mlmodel", teaching), "taught": ("Stickers.mlmodel", taught),
    "failure": ("Classifier.mlmodel", failing), "speed": ("Classifier.mlmodel", beside("Speed")),
    "code": ("Classifier.mlmodel", beside("Code")), "about": ("Segmenter.mlmodel", lambda page, folder: page.get_by_role("tab", name="About").click()),
    "inside": ("Classifier.mlmodel", lambda page, folder: page.get_by_role("tab", name="Inside").click()),
}
OPTIONS = {"Generator.mlpackage": lambda folder: ["--vocabulary", folder / "tale/vocab.json"], "Answers.mlpackage": lambda folder: ["--vocabulary", folder / "vocabulary.txt"]}


def violations(page):
    """What axe calls serious or critical."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [f"{each['id']}: {node['html'][:160]}" for each in found if each["impact"] in ("serious", "critical") for node in each["nodes"][:3]]


def check(browser, tool, folder, out, name):
    file, drive = SCENARIOS[name]
    problems = []
    for theme in ("light", "dark"):
        server = subprocess.Popen([tool, "preview", folder / file, "--json", *OPTIONS.get(file, lambda folder: [])(folder)], stdout=subprocess.PIPE, text=True)
        try:
            link = json.loads(server.stdout.readline())["url"]
            context = browser.new_context(viewport=dict(zip(("width", "height"), SIZES["desktop"])), color_scheme=theme, reduced_motion="reduce")
            page = context.new_page()
            page.on("console", lambda message: problems.append(f"console: {message.text}") if message.type in ("error", "warning") and not (name == "failure" and "422" in message.text) else None)
            page.on("pageerror", lambda error: problems.append(f"error: {error}"))
            page.goto(link)
            page.wait_for_selector(".panel")
            if "token" in page.url:
                problems.append("the token stays in the address")
            drive(page, folder)
            for size, (width, height) in SIZES.items():
                page.set_viewport_size({"width": width, "height": height})
                page.wait_for_timeout(120)
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                if wide > 0:
                    problems.append(f"{size}: the page is {wide} pixels too wide")
                problems += [f"{theme} {size}: {each}" for each in violations(page)]
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=out / f"{name}-{theme}-{size}.png", full_page=True)
            context.close()
        except Exception as error:  # A scenario that fails must not hide the others.
            problems.append(f"{theme}: {type(error).__name__}: {str(error).splitlines()[0]}")
            try:
                page.screenshot(path=out / f"{name}-{theme}-failed.png", full_page=True)
            except Exception:
                pass
        finally:
            server.terminate()
            status = server.wait(10)
            if status != 0:
                problems.append(f"the server ended with {status}")
    return problems


def keyboard(browser, tool, folder):
    """Everything by keys alone: from the skip link to an answer."""
    server = subprocess.Popen([tool, "preview", folder / "TextClassifier.mlmodel", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        page = browser.new_page()
        page.goto(json.loads(server.stdout.readline())["url"])
        page.wait_for_selector(".panel")
        for _ in range(12):
            page.keyboard.press("Tab")
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            if outline == "none":
                return [f"no focus to be seen on {page.evaluate('document.activeElement.outerHTML')[:120]}"]
            if page.evaluate("document.activeElement.tagName") == "TEXTAREA":
                break
        page.keyboard.type("a lovely walk")
        page.keyboard.press("Control+Enter")
        answered(page, "positive")
        return []
    finally:
        server.terminate()
        server.wait(10)


def main():
    tool, out, *wanted = sys.argv[1:]
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tool).resolve().parents[1] / "preview-models"
    preview_models.make(folder, tool)
    failed = False
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox", *DEVICES])
        for name in wanted or [*SCENARIOS, "keyboard"]:
            problems = keyboard(browser, tool, folder) if name == "keyboard" else check(browser, tool, folder, out, name)
            print(f"{name}: good" if not problems else "\n  ".join([f"{name}:", *dict.fromkeys(problems)]), flush=True)
            failed |= bool(problems)
        browser.close()
    return 1 if failed else 0


sys.exit(main())
