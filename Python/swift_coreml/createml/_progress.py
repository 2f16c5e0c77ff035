"""How far training is: a bar in a terminal, a table in a notebook, or a function of the caller's."""
from __future__ import annotations

import html
import re
import sys
import time
from typing import Any, Callable, Union

from . import _data

# True or "auto", False, or a function that gets each report.
Progress = Union[bool, str, Callable[["dict[str, Any]"], None]]

_WORDS = {
    "accuracy": "accuracy", "validationAccuracy": "validation accuracy", "loss": "loss", "validationLoss": "validation loss",
    "rootMeanSquaredError": "RMSE", "validationRootMeanSquaredError": "validation RMSE", "maximumError": "maximum error",
    "validationMaximumError": "validation maximum error", "contentLoss": "content loss", "styleLoss": "style loss"}


def snake(name: str) -> str:
    """Create ML's name as Python writes it.

    >>> snake("minChildWeight"), snake("l1Penalty"), snake("stylizedImageURL")
    ('min_child_weight', 'l1_penalty', 'stylized_image_url')
    """
    return re.sub("(?<![A-Z])([A-Z])", r"_\1", name).lower()


def camel(name: str) -> str:
    """A Python name as Create ML writes it.

    >>> camel("min_child_weight"), camel("l1_penalty")
    ('minChildWeight', 'l1Penalty')
    """
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def report(entry: dict[str, Any], fraction: float) -> dict[str, Any]:
    """A report of the library as the caller's function gets it."""
    return {
        "phase": snake(entry["phase"]), "iteration": entry["itemCount"], "iterations": entry.get("totalItemCount"),
        "elapsed": entry["elapsedTime"], "fraction": fraction,
        "metrics": {
            snake(name): value if name == "stylizedImageURL" else float(value) for name, value in entry["metrics"].items()}}


class Silent:
    def show(self, reports: list[dict[str, Any]]) -> None:
        pass

    def close(self) -> None:
        pass


class Calling(Silent):
    def __init__(self, function: Callable[[dict[str, Any]], None]) -> None:
        self.function = function

    def show(self, reports: list[dict[str, Any]]) -> None:
        for entry in reports:
            self.function(entry)


def _figures(entry: dict[str, Any]) -> list[tuple[str, str]]:
    return [(words, f"{entry['metrics'][snake(name)]:.4g}") for name, words in _WORDS.items()
            if isinstance(entry["metrics"].get(snake(name)), (int, float))]


class Terminal(Silent):
    """A bar on standard error that is written over; nothing if it is not a terminal."""

    def __init__(self) -> None:
        self.shown, self.is_open, self.stream = 0.0, False, sys.stderr

    def show(self, reports: list[dict[str, Any]]) -> None:
        entries = [entry for entry in reports if entry["metrics"]]
        if not entries or time.monotonic() - self.shown < 0.1:
            return
        self.shown, self.is_open, entry = time.monotonic(), True, entries[-1]
        done = int(24 * min(max(entry["fraction"], 0), 1))
        total = f" of {entry['iterations']}" if entry["iterations"] else ""
        figures = "  ".join(f"{words} {value}" for words, value in _figures(entry)[:3])
        self.stream.write(f"\r{'█' * done}{'░' * (24 - done)} iteration {entry['iteration']}{total}  {figures}\x1b[K")
        self.stream.flush()

    def close(self) -> None:
        if self.is_open:
            self.stream.write("\n")
            self.stream.flush()


class Notebook(Silent):
    """A table of the last iterations that is replaced in place."""

    def __init__(self) -> None:
        import IPython.display
        tools: Any = IPython.display
        self.html: Any = tools.HTML
        self.entries: list[dict[str, Any]] = []
        self.shown = 0.0
        self.handle: Any = tools.display(tools.HTML("<i>preparing the data</i>"), display_id=True)

    def show(self, reports: list[dict[str, Any]]) -> None:
        self.entries += [entry for entry in reports if entry["metrics"]]
        if self.entries and time.monotonic() - self.shown > 0.3:
            self._display()

    def _display(self) -> None:
        self.shown, last = time.monotonic(), self.entries[-1]
        names = [words for words, _ in _figures(last)]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in ["iteration", *names])
        rows = "".join(
            "<tr>" + f"<td>{entry['iteration']}</td>" + "".join(f"<td>{value}</td>" for _, value in _figures(entry)) + "</tr>"
            for entry in self.entries[-8:])
        bar = f'<progress value="{last["fraction"]:.3f}" max="1" style="width:24em"></progress> {last["elapsed"]:.1f} s'
        self.handle.update(self.html(f"{bar}<table><tr>{head}</tr>{rows}</table>"))

    def close(self) -> None:
        if self.entries:
            self._display()
        else:
            self.handle.update(self.html(""))


def shown(progress: Progress) -> Silent:
    """The progress display that the caller chose."""
    if callable(progress):
        return Calling(progress)
    if progress is False or progress is None:
        return Silent()
    if progress is not True and progress != "auto":
        raise ValueError(f"progress is {progress!r}; it is True, False, 'auto' or a function")
    if _data.is_notebook():
        return Notebook()
    return Terminal() if progress is True or sys.stderr.isatty() else Silent()
