"""Texts in many languages from Debian packages: what languages are learnt from and judged by.

Packages come by `apt-get download`, unpacked into a folder of the caller's; nothing is installed.
"""
import pathlib
import re
import shutil
import struct
import subprocess
import zipfile

# The languages that are told apart by their words, by script: BCP 47 tags. The first ones of each are Apple's.
LATIN = ("ca hr cs da nl en fi fr de hu id is it ms nb pl pt ro sk es sv tr vi "
         "af az cy eo et eu ga gl lt lv sl sq sw tl").split()
CYRILLIC = "bg kk mn ru uk be mk sr".split()
ARABIC = "ar fa ur".split()
DEVANAGARI = "hi mr ne".split()
HAN = "ja zh-Hans zh-Hant".split()
LEARNT = LATIN + CYRILLIC + ARABIC + DEVANAGARI + HAN

# Package names of a language that are not its tag.
ALIASES = {
    "nb-no": "nb", "no": "nb", "en-gb": "en", "en-us": "en", "es-es": "es", "es-mx": "es",
    "hi-in": "hi", "ne-np": "ne", "pt-br": "pt", "pt-pt": "pt", "sv-se": "sv", "ga-ie": "ga", "zh-cn": "zh-Hans",
    "zh-tw": "zh-Hant", "de-de": "de", "fr-classical": "fr", "zh-hk": "zh-Hant", "de_DE": "de",
}
# Bosnian and Serbian in Latin letters as Croatian, which they are too near to.
FOLDED = {"bs": "hr", "sr@latin": "hr", "sr@ijekavianlatin": "hr", "sr_Latn": "hr"}

CATALOGUES = {
    "libreoffice-l10n": "af ar be bg bs ca cs cy da de el en-gb eo es et eu fa fi fr ga gl he hi hr hu id is it ja kk ko lt "
                        "lv mk mn mr nb ne nl pl pt pt-br ro ru sk sl sr sv te th tr uk vi zh-cn zh-tw",
    "firefox-esr-l10n": "af ar az be bg bs ca cs cy da de en-gb eo es-es es-mx et eu fa fi fr ga-ie gl hi-in hr hu id is it "
                        "ja kk lt lv mk mr ms nb-no ne-np nl pl pt-br pt-pt ro ru sk sl sq sr sv-se tl tr uk ur vi "
                        "zh-cn zh-tw",
}
GAMES = ["wesnoth-1.16-data"] + [
    f"wesnoth-1.16-{name}" for name in "did dm dw ei httt l low nr sof sota sotbe thot trow tsg ttb utbs".split()]
MIXED = GAMES + ["stellarium-data", "gcompris-qt-data", "calibre"]
DICTIONARIES = {
    "hunspell": "af ar be bg bs ca cs da de-de en-us es eu fr-classical gl hi hr hu id is it lt lv mn ne nl no pl pt-br pt-pt ro ru sk "
                "sl sr sv sw tr uk kk vi",
}
HELP = "gnome-user-docs"


def tag(name):
    """The tag of a language that a package names, or None."""
    name = ALIASES.get(name.replace("_", "-").lower(), name)
    name = FOLDED.get(name, name)
    base = re.split("[-_@]", name)[0]
    for candidate in (name, FOLDED.get(base, base)):
        if candidate in LEARNT:
            return candidate
    return None


def unpack(package, folder):
    """The folder that holds a package's files, which are fetched when it is not there."""
    target = folder / package
    if not target.exists():
        subprocess.run(["apt-get", "download", "-q", package], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (archive,) = folder.glob(f"{package}_*.deb")
        partial = folder / f"{package}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        # Pictures and sounds are left in the archive because of their size.
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as tar:
            partial.mkdir()
            subprocess.run(["tar", "-x", "-C", partial, "--exclude=*.png", "--exclude=*.jpg", "--exclude=*.ogg",
                            "--exclude=*.webp", "--exclude=*.wav", "--exclude=*.cat", "--exclude=*.dat"],
                           stdin=tar.stdout, check=True)
        archive.unlink()
        partial.rename(target)
    return target


def mo(data, wants_originals=False):
    """Translations of a gettext catalogue that differ from the original; or the originals, which are English."""
    magic = data[:4]
    if magic not in (b"\xde\x12\x04\x95", b"\x95\x04\x12\xde"):
        return
    order = "<" if magic == b"\xde\x12\x04\x95" else ">"
    _, count, originals, translations = struct.unpack_from(order + "4I", data, 4)
    for index in range(count):
        length, start = struct.unpack_from(order + "2I", data, originals + 8 * index)
        original = data[start:start + length]
        length, start = struct.unpack_from(order + "2I", data, translations + 8 * index)
        text = data[start:start + length]
        if wants_originals:
            yield original.split(b"\4")[-1].split(b"\0")[0].decode("utf-8", "ignore")
        elif original and text and text != original:
            for form in text.decode("utf-8", "ignore").split("\0"):
                yield form


def qm(data):
    """Translations of a Qt catalogue: the messages of the block 0x69, of which tag 3 is the translation in UTF-16."""
    position = 16
    while position + 5 <= len(data):
        kind, length = struct.unpack_from(">BI", data, position)
        position += 5
        block, position = data[position:position + length], position + length
        if kind != 0x69:
            continue
        at = 0
        while at < len(block):
            item, at = block[at], at + 1
            if item == 1:
                continue
            if item == 5:
                at += 4
                continue
            if at + 4 > len(block):
                break
            (size,) = struct.unpack_from(">I", block, at)
            at += 4
            if size == 0xFFFFFFFF:
                continue
            if item == 3:
                yield block[at:at + size].decode("utf-16-be", "ignore")
            at += size


def fluent(text):
    """Values of Fluent and properties files."""
    value = ""
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        found = re.match(r"^(?:[\w.@-]+|\s+\.[\w-]+)\s*=\s?(.*)$", line) or re.match(r"^\s+\*?\[[^]]*\]\s?(.*)$", line)
        if found:
            yield value
            value = found.group(1)
        elif line.startswith(" "):
            value += " " + line.strip()
    yield value


def words_of_dictionary(folder):
    """The words of the largest hunspell dictionary in a folder."""
    files = [path for path in folder.rglob("*.dic") if not path.is_symlink() and not path.name.startswith("hyph")]
    if not files:
        return []
    path = max(files, key=lambda path: path.stat().st_size)
    rules = path.with_suffix(".aff").read_bytes()
    found = re.search(rb"^SET\s+(\S+)", rules, re.MULTILINE)
    lines = path.read_bytes().decode(found.group(1).decode() if found else "latin-1", "ignore").splitlines()[1:]
    return [re.split(r"[/\t ]", line)[0] for line in lines]


MARKUP = re.compile(
    r"<[^<>]*>|\{[^{}]*\}|%\S*|\$\S+|&\w+;|https?:\S+|\S+@\S+|\\[nt]|\S*[/\\_=|]\S*|\S+\.\w{2,4}\b|\w+\(\)|^\w[\w ]*\^|"
    r"\b[A-Z]{2,}\w*\b")


def clean(text):
    """A message without markup, keys of menus, placeholders, addresses, abbreviations and breaks."""
    text = re.sub(r"\s*\(&\w\)|[~_&](?=\w)", "", text)
    return re.sub(r"\s+", " ", MARKUP.sub(" ", text)).strip()


def page(text):
    """Paragraphs of a Mallard page."""
    text = re.sub(r"<!--.*?-->|<info>.*?</info>|<(?:code|screen)\b.*?</(?:code|screen)>", " ", text, flags=re.DOTALL)
    for paragraph in re.findall(r"<(?:p|title)\b[^>]*>(.*?)</(?:p|title)>", text, re.DOTALL):
        yield re.sub(r"\s+", " ", re.sub(r"<[^>]*>|&\w+;", "", paragraph)).strip()


def collect(folder):
    """Yields (tag, source, texts) of what is learnt."""
    for kind, names in CATALOGUES.items():
        for name in names.split():
            language = tag(name)
            if language is None:
                continue
            root = unpack(f"{kind}-{name}", folder)
            source = f"{kind}-{name}"
            for path in root.rglob("*.mo"):
                yield language, source, mo(path.read_bytes())
                if language == "de":
                    yield "en", source, mo(path.read_bytes(), True)
            for path in root.rglob("*.xpi"):
                with zipfile.ZipFile(path) as archive:
                    for entry in archive.namelist():
                        if entry.endswith((".ftl", ".properties")):
                            yield language, source, fluent(archive.read(entry).decode("utf-8", "ignore"))
    for package in MIXED:
        root = unpack(package, folder)
        for path in sorted(root.rglob("*.mo")):
            language = tag(path.parts[-3])
            if language:
                yield language, package, mo(path.read_bytes())
            if language == "de":
                yield "en", package, mo(path.read_bytes(), True)
        for path in sorted(root.rglob("*.qm")):
            language = tag(path.stem.removeprefix("gcompris_"))
            if language:
                yield language, package, qm(path.read_bytes())
        for path in sorted(root.rglob("localization/locales.zip")):
            with zipfile.ZipFile(path) as archive:
                for entry in archive.namelist():
                    language = tag(pathlib.PurePath(entry).parts[0])
                    if entry.endswith("messages.mo") and language:
                        yield language, package, mo(archive.read(entry))
                        if language == "de":
                            yield "en", package, mo(archive.read(entry), True)
    for kind, names in DICTIONARIES.items():
        for name in names.split():
            language = tag(name)
            if language:
                yield language, "dictionary", words_of_dictionary(unpack(f"{kind}-{name}", folder))
