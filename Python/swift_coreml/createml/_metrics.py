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


class _Drawn(Metrics):
    """Metrics that draw themselves."""

    def svg(self, title: str = "") -> str:
        raise NotImplementedError

    def plot(self, ax: Any = None, title: str = "") -> Any:
        raise NotImplementedError

    def save_picture(self, path: Path, title: str = "") -> None:
        """Writes the image: an `.svg`, or with matplotlib a `.png` or `.pdf`."""
        path = os.fspath(path)
        temporary = f"{path}.{os.getpid()}.unfinished"
        try:
            if path.lower().endswith(".svg"):
                with open(temporary, "w", encoding="utf-8") as file:
                    file.write(self.svg(title))
            else:
                format = os.path.splitext(path)[1][1:].lower()
                if format not in ("png", "pdf"):
                    raise ValueError(f"'{path}' ends in '.{format}'; images end in .svg, .png or .pdf")
                self.plot(title=title).figure.savefig(temporary, format=format)
            os.replace(temporary, path)
        finally:
            if os.path.exists(temporary):
                os.remove(temporary)


def _axes(size: float) -> Any:
    """The axes of a new figure of matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plots are drawn by matplotlib; install it, or write an .svg with save_picture") from None
    return Figure(figsize=(size, size), layout="constrained").subplots()


class RecommenderMetrics(Metrics):
    """`precision` and `recall` at each of `cutoffs`."""


class ClassifierMetrics(_Drawn):
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
        """The confusion matrix as an SVG image."""
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
        if ax is None:
            ax = _axes(min(3 + 0.45 * len(self.labels), 20))
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

    def _repr_html_(self) -> Optional[str]:
        if not self.is_valid:
            return None
        return f"<div>accuracy {self.accuracy:.4f}, {self.examples} examples</div>{self.svg()}"


class ImageClassifierMetrics(ClassifierMetrics):
    """`ClassifierMetrics` of images, with the misclassified ones, the most confident first: `misclassified`.

    Each has its `image`, a path or the row of an image in memory, `label`, `prediction` and `confidence`.  An evaluation also
    lists the images that could not be read, `skipped`, with the `reason`.
    """


class DetectorMetrics(_Drawn):
    """`mean_average_precision` over the labels, and `average_precision`, dictionaries by label.

    Both are dictionaries of `iou_50`, where detections are right that overlap an object by more than 0.5, and `varied_iou`, the
    mean over the overlaps 0.5, 0.55, … 0.95.

    >>> metrics = DetectorMetrics(
    ...     mean_average_precision={"varied_iou": 0.4, "iou_50": 0.75},
    ...     average_precision={"varied_iou": {"ace": 0.4}, "iou_50": {"ace": 0.75}})
    >>> metrics.mean_average_precision["iou_50"]
    0.75
    >>> metrics.svg().startswith("<svg")
    True
    """

    def svg(self, title: str = "") -> str:
        """The average precision of each label as an SVG image of bars."""
        values = sorted(self.average_precision["iou_50"].items())
        left, top, bar = 24 + 8 * max((len(label) for label, _ in values), default=1), 44 if title else 28, 22
        width, height = left + 300, top + bar * len(values) + 8
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            'font-family="sans-serif" font-size="13" role="img">',
            f"<title>{html.escape(title or 'average precision')}</title>",
            f'<rect width="{width}" height="{height}" fill="white"/>']
        if title:
            parts.append(f'<text x="8" y="20" font-weight="bold" fill="black">{html.escape(title)}</text>')
        parts.append(f'<text x="{left}" y="{top - 8}" font-size="11" fill="gray">average precision, overlap 0.5</text>')
        for row, (label, value) in enumerate(values):
            y = top + bar * row
            parts += [
                f'<text x="{left - 6}" y="{y + 15}" text-anchor="end" fill="black">{html.escape(label)}</text>',
                f'<rect x="{left}" y="{y + 2}" width="{240 * value:.1f}" height="{bar - 4}" fill="rgb(33,113,181)"/>',
                f'<text x="{left + 240 * value + 6:.1f}" y="{y + 15}" fill="black">{value:.3f}</text>']
        return "\n".join([*parts, "</svg>"])

    def plot(self, ax: Any = None, title: str = "") -> Any:
        """Draws the average precision of each label with matplotlib, which must be installed; returns the axes."""
        values = sorted(self.average_precision["iou_50"].items())
        if ax is None:
            ax = _axes(min(3 + 0.3 * len(values), 20))
        ax.barh([label for label, _ in values], [value for _, value in values])
        ax.invert_yaxis()
        ax.set(xlim=(0, 1), xlabel="average precision, overlap 0.5", title=title)
        return ax

    def _repr_html_(self) -> Optional[str]:
        if not self.is_valid:
            return None
        mean = self.mean_average_precision
        return f"<div>mean average precision {mean['iou_50']:.4f} ({mean['varied_iou']:.4f})</div>{self.svg()}"


# The metrics of each kind in order: their names in the library and here.
_NAMES = {
    "classifier": {
        "examples": "examples", "accuracy": "accuracy", "classificationError": "classification_error", "labels": "labels",
        "confusion": "confusion", "precision": "precision", "recall": "recall"},
    "detector": {
        "meanAveragePrecision": "mean_average_precision", "averagePrecision": "average_precision", "skipped": "skipped"},
    "regressor": {"rootMeanSquaredError": "root_mean_squared_error", "maximumError": "maximum_error"},
    "recommender": {"cutoffs": "cutoffs", "precision": "precision", "recall": "recall"},
}
_NAMES["pictures"] = {**_NAMES["classifier"], "misclassified": "misclassified", "skipped": "skipped"}
_TYPES: dict[str, type[Metrics]] = {
    "classifier": ClassifierMetrics, "pictures": ImageClassifierMetrics, "detector": DetectorMetrics,
    "regressor": RegressorMetrics, "recommender": RecommenderMetrics}
_OVERLAPS = {"variedIoU": "varied_iou", "IoU50": "iou_50"}
_NUMBERS = {"accuracy", "classification_error", "precision", "recall", "root_mean_squared_error", "maximum_error"}


def _named(value: Any) -> Any:
    """A value with Python's names of overlaps, and labels in alphabetical order."""
    if isinstance(value, dict) and set(value) <= set(_OVERLAPS):
        return {python: _named(value[name]) for name, python in _OVERLAPS.items()}
    if isinstance(value, dict):
        return {label: float(value[label]) for label in sorted(value)}
    return float(value) if isinstance(value, int) else value


def _number(value: Any) -> Any:
    if isinstance(value, list):
        return [_number(element) for element in value]
    return None if value is None else float(value)


def metrics(facts: Optional[dict[str, Any]]) -> Metrics:
    """The metrics that the library reports."""
    kind = None if facts is None else facts.get("kind")
    if facts is None or kind is None:
        return Metrics(facts or {})
    return _TYPES[kind]({
        name: _number(facts[given]) if name in _NUMBERS else _named(facts[given])
        for given, name in _NAMES[kind].items() if given in facts})
