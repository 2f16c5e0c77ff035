"""Runs code right before or right after a named module executes, without touching its file.

coremltools' tests take their platform answers by name (`from coremltools.models.utils import _macos_version`), so the
definitions must be replaced in the defining module before anything imports from it.
"""
import importlib.abc
import importlib.machinery
import sys


class _Around(importlib.abc.Loader):
    """A module's own loader, with something before and after."""

    def __init__(self, inner, before, after):
        self._inner, self._before, self._after = inner, before, after

    def create_module(self, spec):
        return self._inner.create_module(spec)

    def exec_module(self, module):
        undo = self._before(module) if self._before else None
        try:
            self._inner.exec_module(module)
        finally:
            if undo:
                undo()
        if self._after:
            self._after(module)

    def __getattr__(self, name):
        return getattr(self._inner, name)


class _Made(importlib.abc.Loader):
    """Fills a module that has no file."""

    def __init__(self, fill):
        self._fill = fill

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        self._fill(module)


class Hooks(importlib.abc.MetaPathFinder):
    """`before` and `after` map module names to functions of the module; `made` maps names of modules without a file."""

    def __init__(self):
        self.before, self.after, self.made = {}, {}, {}
        self._searching = set()

    def install(self):
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        if name in self.made:
            return importlib.machinery.ModuleSpec(name, _Made(self.made[name]), origin="conformance")
        if (name not in self.before and name not in self.after) or name in self._searching:
            return None
        self._searching.add(name)
        try:
            for finder in sys.meta_path:
                spec = None if finder is self else finder.find_spec(name, path, target)
                if spec is not None and spec.loader is not None:
                    spec.loader = _Around(spec.loader, self.before.get(name), self.after.get(name))
                    return spec
        finally:
            self._searching.discard(name)
        return None
