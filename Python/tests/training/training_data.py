"""Data of the tests of training, and how each library has them."""
import numpy
import pandas
import polars
import pyarrow

KINDS = ["dictionary", "numpy", "pandas", "polars", "pyarrow"]


def flowers(rows=600, seed=7):
    """Columns of each kind, with missing numbers, from which `kind` and `price` follow."""
    random = numpy.random.default_rng(seed)
    length, width = random.normal(5, 2, rows), random.normal(2, 1, rows)
    colour = random.choice(["red", "blue", "white"], rows)
    count = random.integers(0, 9, rows)
    kind = numpy.where(length + width > 7, numpy.where(colour == "red", "rose", "lily"), "daisy")
    return {
        "length": length, "width": width, "count": count, "wild": random.random(rows) < 0.5, "colour": colour, "kind": kind,
        "large": numpy.where(length > 5, "large", "small"),
        "price": 3 * length - width + count + random.normal(0, 0.1, rows)}


def as_kind(kind, columns):
    """The same columns as one library has them."""
    if kind == "dictionary":
        return {name: values.tolist() for name, values in columns.items()}
    if kind == "numpy":
        return dict(columns)
    return {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}[kind](columns)
