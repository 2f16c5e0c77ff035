"""pytest plugin: every model that a test makes goes through our reader and writer as soon as it is written.

Loaded with `-p modelwatch` after the conformance plugin.  Models are not run, so most tests fail later; that does not
matter here.  As a program, `modelwatch.py FOLDER` sums the outcomes up.
"""
import hashlib
import json
import os
import pathlib
import sys

OUTCOMES = pathlib.Path(os.environ.get("COREML_WIRE_OUTCOMES", "."))


def digest(path):
    result = hashlib.sha256()
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.name != "Manifest.json") or [path]
    for file in files:
        result.update(file.read_bytes())
    return result.hexdigest()


def judge(path):
    from wire import difference

    path = pathlib.Path(path)
    if path.suffix == ".mlmodelc" or not path.exists():
        return
    outcome = OUTCOMES / (digest(path) + ".json")
    if not outcome.exists():
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        outcome.write_text(json.dumps({"test": test, "kind": path.suffix, "difference": difference(path)}))


def watch(module):
    original = module.MLModel._get_proxy_and_spec

    def watched(self, path, compute_units, skip_model_load=False, **options):
        judge(path)
        return original(self, path, compute_units, skip_model_load=True, **options)

    module.MLModel._get_proxy_and_spec = watched


if __name__ == "__main__":
    found = [json.loads(file.read_text()) for file in pathlib.Path(sys.argv[1]).iterdir()]
    different = [outcome for outcome in found if outcome["difference"]]
    for outcome in different:
        print(f"{outcome['test']}: {outcome['difference']}")
    packages = sum(outcome["kind"] == ".mlpackage" for outcome in found)
    print(f"suite: {len(found)} different models, {packages} of them packages; {len(different)} differ")
    sys.exit(bool(different) or not found)
else:
    from importhook import Hooks

    hooks = Hooks()
    hooks.after["coremltools.models.model"] = watch
    hooks.install()
