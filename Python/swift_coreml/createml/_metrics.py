"""Metrics of models: dictionaries that draw themselves."""
from __future__ import annotations

import html
import os
from typing import Any, Optional

import numpy

from ._data import Path


class Metrics(dict[str, Any]):
    """The performance of a model: a dictionary whose entries are attributes, too.

    >>> metrics = Metrics({"accuracy": 0.75})
    >>> metrics["accuracy"], metrics.accuracy
    (0.75, 0.75)
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self) or "none"
            raise AttributeError(f"there is no metric '{name}'; there are {known}") from None

    @property
    def is_valid(self) -> bool:
        """Whether there are metrics: there are none of validation without validation rows."""
        return bool(self) and "error" not in self


class RegressorMetrics(Metrics):
    """`maximum_error` and `root_mean_squared_error`."""


class RecommenderMetrics(Metrics):
    """`precision` and `recall` at each of `cutoffs`."""


class ClassifierMetrics(Metrics):
    """`accuracy`, `classification_error`, `labels`, `confusion`, `precision`, `recall` and the number of `examples`.

    `confusion[i][j]` counts examples of `labels[i]` that were taken for `labels[j]`; precision and recall are in the order of
    `labels`, `None` where there is nothing to divide by.

    >>> metrics = ClassifierMetrics(labels=["cat", "dog"], confusion=[[3, 1], [0, 4]])
    >>> metrics.confusion_matrix().tolist()
    [[3, 1], [0, 4]]
    >>> metrics.svg().startswith("<svg")
    True
    """

    def confusion_matrix(self) -> numpy.ndarray:
        """The confusion matrix: [true, predicted]."""
        return numpy.array(self.confusion, dtype=numpy.int64)

    def svg(self, title: str = "") -> str:
        """The confusion matrix as an SVG picture."""
        labels, matrix = [str(label) for label in self.labels], self.confusion_matrix()
        cell, left = 44 if len(labels) <= 20 else 20, 24 + 8 * max(map(len, labels), default=1)
        top = (28 if title else 8) + left
        size = cell * len(labels)
        totals = numpy.maximum(matrix.sum(axis=1, keepdims=True), 1)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + size + 8}" height="{top + size + 8}" '
            'font-family="sans-serif" font-size="13" role="img">',
            f"<title>{html.escape(title or 'confusion matrix')}</title>",
            f'<rect width="{left + size + 8}" height="{top + size + 8}" fill="white"/>']
        if title:
            parts.append(f'<text x="8" y="20" font-weight="bold" fill="black">{html.escape(title)}</text>')
        parts.append(f'<text x="8" y="{top - 8}" font-size="11" fill="gray">true ↓ predicted →</text>')
        for row, label in enumerate(labels):
            middle = top + cell * row + cell / 2
            parts.append(f'<text x="{left - 6}" y="{middle + 4}" text-anchor="end" fill="black">{html.escape(label)}</text>')
            x = left + cell * row + cell / 2
            parts.append(f'<text transform="translate({x + 4},{top - 6}) rotate(-90)" fill="black">{html.escape(label)}</text>')
            for column in range(len(labels)):
                share = matrix[row, column] / totals[row, 0]
                shade = f"rgb({round(255 - 222 * share)},{round(255 - 142 * share)},{round(255 - 74 * share)})"
                x, y = left + cell * column, top + cell * row
                parts.append(f'<rect x="{x}" y="{y}" width="{cell - 1}" height="{cell - 1}" fill="{shade}"/>')
                if cell > 20:
                    parts.append(
                        f'<text x="{x + cell / 2}" y="{y + cell / 2 + 4}" text-anchor="middle" '
                        f'fill="{"white" if share > 0.5 else "black"}">{matrix[row, column]}</text>')
        return "\n".join([*parts, "</svg>"])

    def plot(self, ax: Any = None, title: str = "") -> Any:
        """Draws the confusion matrix with matplotlib, which must be installed; returns the axes."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            raise ImportError("plots are drawn by matplotlib; install it, or write an .svg with save_picture") from None
        if ax is None:
            size = min(3 + 0.45 * len(self.labels), 20)
            ax = Figure(figsize=(size, size), layout="constrained").subplots()
        matrix = self.confusion_matrix()
        ax.imshow(matrix / numpy.maximum(matrix.sum(axis=1, keepdims=True), 1), cmap="Blues", vmin=0, vmax=1)
        names = [str(label) for label in self.labels]
        ax.set_xticks(range(len(names)), names, rotation=90)
        ax.set_yticks(range(len(names)), names)
        ax.set(xlabel="predicted", ylabel="true", title=title)
        if len(names) <= 20:
            for row in range(len(names)):
                for column in range(len(names)):
                    shade = "white" if 2 * matrix[row, column] > matrix[row].sum() else "black"
                    ax.text(column, row, str(matrix[row, column]), ha="center", va="center", color=shade)
        return ax

    def save_picture(self, path: Path, title: str = "") -> None:
        """Writes the confusion matrix: an `.svg`, or with matplotlib a `.png` or `.pdf`."""
        path = os.fspath(path)
        temporary = f"{path}.{os.getpid()}.unfinished"
        try:
            if path.lower().endswith(".svg"):
                with open(temporary, "w", encoding="utf-8") as file:
                    file.write(self.svg(title))
            else:
                format = os.path.splitext(path)[1][1:].lower()
                if format not in ("png", "pdf"):
                    raise ValueError(f"'{path}' ends in '.{format}'; pictures end in .svg, .png or .pdf")
                self.plot(title=title).figure.savefig(temporary, format=format)
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)

    def _repr_html_(self) -> Optional[str]:
        if not self.is_valid:
            return None
        return f"<div>accuracy {self.accuracy:.4f}, {self.examples} examples</div>{self.svg()}"


# The metrics of each kind in order: their names in the library and here.
_NAMES = {
    "classifier": {
        "examples": "examples", "accuracy": "accuracy", "classificationError": "classification_error", "labels": "labels",
        "confusion": "confusion", "precision": "precision", "recall": "recall"},
    "regressor": {"rootMeanSquaredError": "root_mean_squared_error", "maximumError": "maximum_error"},
    "recommender": {"cutoffs": "cutoffs", "precision": "precision", "recall": "recall"},
}
_TYPES: dict[str, type[Metrics]] = {
    "classifier": ClassifierMetrics, "regressor": RegressorMetrics, "recommender": RecommenderMetrics}
_NUMBERS = {"accuracy", "classification_error", "precision", "recall", "root_mean_squared_error", "maximum_error"}


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return [_number(element) for element in value]
    return None if value is None else float(value)


def metrics(facts: Optional[dict[str, Any]]) -> Metrics:
    """The metrics that the library reports."""
    kind = None if facts is None else facts.get("kind")
    if facts is None or kind is None:
        return Metrics(facts or {})
    return _TYPES[kind](
        {name: _number(facts[given]) if name in _NUMBERS else facts[given] for given, name in _NAMES[kind].items()})
