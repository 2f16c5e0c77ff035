#!/usr/bin/env python3
"""scripts/packaging/components.py licences FOLDER OBJECTS...: what portable files are made of, and under which terms.

licences FOLDER OBJECTS...: copies the licences of everything that is linked into the objects' products into FOLDER.
sbom FILE OBJECTS... -- PRODUCT...: writes an SBOM (SPDX 2.3, JSON) of the files PRODUCT, with their hashes.

OBJECTS are lists of object files as SwiftPM leaves them (NAME.product/Objects.LinkFileList). Linked are Swift's runtime, the
packages of Package.resolved whose modules are among the objects, and the libraries of scripts/packaging/libraries. A licence
that is not known is an error.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = pathlib.Path(__file__).with_name("libraries")
SERVERS = {"coreml-serve", "coreml-server"}
SWIFT_LICENCE = "Apache-2.0 WITH Swift-exception"
TITLES = (  # what a licence's text contains → its name in SPDX's list; the first that fits
    ("Runtime Library Exception", SWIFT_LICENCE),
    ("Apache License", "Apache-2.0"),
    ("MIT License", "MIT"),
    ("Permission is hereby granted, free of charge, to any person obtaining a copy", "MIT"),
    ("Redistribution and use in source and binary forms", "BSD-3-Clause"),
)


class Component:
    """Something that a product carries: a name, a version, a licence, where it is from, and the files of its terms."""

    def __init__(self, name, version, licence, origin, reference, files):
        self.name, self.version, self.licence = name, version, licence
        self.origin, self.reference, self.files = origin, reference, files


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout.strip()


def terms(folder):
    """The licence of a package's sources, and the files that state it."""
    files = sorted(file for file in folder.iterdir() if re.match(r"(LICEN[SC]E|NOTICE|COPYING)", file.name))
    text = "".join(file.read_text(errors="replace") for file in files if not file.name.startswith("NOTICE"))
    for title, name in TITLES:
        if title in text:
            return name, files
    sys.exit(f"{folder}: the licence is not known; add its title to scripts/packaging/components.py")


def modules(lists):
    """The names of the modules among the objects."""
    return {
        found[1] for file in lists for line in pathlib.Path(file).read_text().splitlines()
        for found in [re.search(r"/([^/]+)\.build/", line)] if found}


def swift_packages(lists):
    """The packages of Package.resolved that have a module among the objects, and what they bring along."""
    linked = modules(lists)
    for pins, checkouts in sorted({package_of(file) for file in lists}):
        for pin in json.loads(pins.read_text())["pins"]:
            name = pin["location"].rstrip("/").removesuffix(".git").rsplit("/", 1)[-1]
            folder = checkouts / name
            if not linked & {source.name for source in folder.glob("Sources/*")}:
                continue
            licence, files = terms(folder)
            state = pin["state"]
            yield Component(
                name, state.get("version", state["revision"]), licence, f"git+{pin['location']}@{state['revision']}",
                f"pkg:swift/{re.sub(r'^https?://', '', pin['location']).removesuffix('.git')}@"
                f"{state.get('version', state['revision'])}", files)
            for derived in folder.glob("Sources/C*BoringSSL/hash.txt"):
                revision = re.search(r"revision ([0-9a-f]+)", derived.read_text())[1]
                yield Component(
                    f"boringssl-in-{name}", revision, "Apache-2.0", f"git+https://boringssl.googlesource.com/boringssl@{revision}",
                    f"pkg:generic/boringssl@{revision}", files)


def package_of(list_file):
    """The pins of the package that a list of objects comes from, and the folder of the packages' sources."""
    file = pathlib.Path(list_file).absolute()
    build = next((folder for folder in file.parents if folder.name == ".build"), ROOT / ".build")
    package = ROOT / "Server" if file.parent.name.removesuffix(".product") in SERVERS else ROOT
    return package / "Package.resolved", build / "checkouts"


def runtime():
    """Swift's runtime with Foundation, and the ICU in it."""
    target = json.loads(output("swiftc", "-print-target-info"))
    version = re.search(r"Swift version (\S+)", target["compilerVersion"])[1]
    licence = pathlib.Path(target["paths"]["runtimeResourcePath"]).parent.parent / "share" / "swift" / "LICENSE.txt"
    origin = f"git+https://github.com/swiftlang/swift@swift-{version}-RELEASE"
    yield Component("swift", version, SWIFT_LICENCE, origin, f"pkg:generic/swift@{version}", [licence])
    archive = pathlib.Path(target["paths"]["runtimeResourcePath"]).parent / "swift_static" / "linux" / "lib_FoundationICU.a"
    icu = max(map(int, re.findall(r"icudt(\d+)_dat", output("nm", "--defined-only", str(archive)))))
    yield Component(
        "swift-foundation-icu", version, "Unicode-3.0",
        f"git+https://github.com/swiftlang/swift-foundation-icu@swift-{version}-RELEASE", f"pkg:generic/icu@{icu}", [])


def libraries():
    """The libraries of the system, by their Debian packages."""
    seen = set()
    for line in LIBRARIES.read_text().splitlines():
        name, _, licence = line.partition(" ")
        if name == "#":
            continue
        archive = os.path.realpath(output("clang", f"--print-file-name=lib{name}.a"))
        package = output("dpkg-query", "--search", archive).split(":")[0]
        source, version = output("dpkg-query", "--show", "--showformat", "${source:Package} ${Version}", package).split()
        if source in seen:
            continue
        seen.add(source)
        yield Component(
            source, version, licence, f"https://sources.debian.org/src/{source}/{version}/",
            f"pkg:deb/debian/{package}@{version}", [pathlib.Path("/usr/share/doc") / package / "copyright"])


def components(lists):
    return [*swift_packages(lists), *runtime(), *libraries()]


def write_licences(folder, lists):
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "LICENSE", folder / "swift-coreml.LICENSE.txt")
    for component in components(lists):
        for file in component.files:
            name = file.name if file.suffix else f"{file.name}.txt"
            shutil.copy(file, folder / f"{component.name}.{name}")


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]", "-", name)


def package(name, version, licence, origin, **more):
    return {
        "SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": origin, "filesAnalyzed": False,
        "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def write_sbom(file, lists, products):
    version = (ROOT / "VERSION").read_text().strip()
    moment = datetime.datetime.fromtimestamp(
        int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp())), datetime.timezone.utc)
    packages, relations = [], []
    carried = components(lists)
    for component in carried:
        packages.append(package(component.name, component.version, component.licence, component.origin, externalRefs=[
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": component.reference}]))
    digest = hashlib.sha256()
    for product in map(pathlib.Path, products):
        content = product.read_bytes()
        digest.update(content)
        packages.append(package(product.name, version, "Apache-2.0", "NOASSERTION", packageFileName=product.name, checksums=[
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}]))
        relations.append(("SPDXRef-DOCUMENT", "DESCRIBES", identifier(product.name)))
        relations += [(identifier(product.name), "CONTAINS", identifier(component.name)) for component in carried]
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"coreml-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/coreml-{version}-{digest.hexdigest()}",
        "creationInfo": {
            "created": moment.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: scripts/packaging/components.py"]},
        "packages": packages,
        "relationships": [
            {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second} for first, kind, second in relations],
    }
    pathlib.Path(file).write_text(json.dumps(document, indent=2) + "\n")


def main():
    match sys.argv[1:]:
        case ["licences", folder, *lists] if lists:
            write_licences(pathlib.Path(folder), lists)
        case ["sbom", file, *rest] if "--" in rest:
            write_sbom(file, rest[:rest.index("--")], rest[rest.index("--") + 1:])
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
