"""The symbol graphs of built modules, by the compiler's symbolgraph-extract; scripts/docs and scripts/checks/check-api use it."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / ".build/release"


def extract(module, folder, build=BUILD, modules=None):
    """Writes the graphs of a module's public declarations into a folder: MODULE.symbols.json and MODULE@OTHER.symbols.json,
    the latter for its extensions of OTHER.  `modules` is the folder of the built modules, else that of the build."""
    maps = [*(ROOT / "Sources").rglob("include/module.modulemap"), *build.glob("*.build/module.modulemap")]
    # Modules that are built a second time, for plugins.
    maps = [path for path in maps if not path.parent.name.endswith("-tool.build")]
    target = subprocess.run(["uname", "-m"], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, "-target", f"{target}-unknown-linux-gnu",
         "-I", modules or build / "Modules",
         *[word for path in maps for word in ("-Xcc", f"-fmodule-map-file={path}")],
         "-output-dir", folder, "-minimum-access-level", "public", "-skip-synthesized-members"], check=True)
