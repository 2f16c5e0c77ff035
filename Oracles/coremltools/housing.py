"""A table of houses of the form that coremltools' tests download: 506 rows, 13 columns and a price."""
import numpy as np

# name → how a column is drawn from the generator
COLUMNS = {
    "CRIM": lambda draw, n: np.exp(draw.normal(-1, 2, n)).round(5),
    "ZN": lambda draw, n: np.where(draw.rand(n) < 0.7, 0, draw.choice([12.5, 20, 25, 40, 80, 95], n)),
    "INDUS": lambda draw, n: draw.choice(np.linspace(0.46, 27.74, 76), n).round(2),
    "CHAS": lambda draw, n: (draw.rand(n) < 0.07).astype(float),
    "NOX": lambda draw, n: draw.uniform(0.385, 0.871, n).round(3),
    "RM": lambda draw, n: draw.normal(6.28, 0.7, n).round(3),
    "AGE": lambda draw, n: draw.uniform(2.9, 100, n).round(1),
    "DIS": lambda draw, n: np.exp(draw.normal(1.18, 0.54, n)).round(4),
    "RAD": lambda draw, n: draw.choice([1, 2, 3, 4, 5, 6, 7, 8, 24], n).astype(float),
    "TAX": lambda draw, n: draw.uniform(187, 711, n).round(),
    "PTRATIO": lambda draw, n: draw.uniform(12.6, 22, n).round(1),
    "B": lambda draw, n: draw.uniform(0.32, 396.9, n).round(2),
    "LSTAT": lambda draw, n: np.exp(draw.normal(2.37, 0.6, n)).round(2),
}


def housing(rows=506):
    """The same table at every call."""
    draw = np.random.RandomState(rows)
    table = {name: column(draw, rows) for name, column in COLUMNS.items()}
    price = (
        36 - 17 * table["NOX"] + 4 * (table["RM"] - 6) - 1.4 * table["DIS"] - 0.9 * (table["PTRATIO"] - 18)
        - 0.5 * table["LSTAT"] + draw.normal(0, 3, rows))
    return {
        "data": np.stack(list(table.values()), axis=1), "target": price.clip(5, 50).round(1),
        "feature_names": np.array(list(table), dtype="<U7")}
