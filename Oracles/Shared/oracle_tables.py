"""The tables that training is held against other libraries on, and the rows that are held out."""
import numpy as np
import sklearn.datasets as datasets
from statsmodels.datasets import fair, modechoice, randhie


def is_test(count):
    """Whether a row is held out: splitmix64 of its number is a multiple of 5."""
    z = np.arange(count, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) % np.uint64(5) == 0


def real():
    """Name, features, targets, and the number of classes (0 for a regression) of tables that the libraries bundle."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, x, y, len(set(y))
    x, y = datasets.load_diabetes(return_X_y=True, scaled=False)
    yield "diabetes", x, y, 0
    table = fair.load_pandas().data
    yield "fair", table.drop(columns="affairs").to_numpy(float), (table.affairs > 0).to_numpy(int), 2
    table = randhie.load_pandas().data
    x = table.drop(columns="mdvis").to_numpy(float)
    yield "randhie", x, table.mdvis.to_numpy(float), 0
    yield "randhie visits", x, (table.mdvis > 0).to_numpy(int), 2
    # A row a traveller: the waits, costs and times of four ways to travel, income and company; the way that was chosen.
    table = modechoice.load_pandas().data
    wide = table.pivot(index="individual", columns="mode", values=["ttme", "invc", "invt", "gc"])
    own = table.groupby("individual")[["hinc", "psize"]].first()
    chosen = table[table.choice == 1].sort_values("individual")["mode"].to_numpy(int) - 1
    yield "modechoice", np.hstack([wide.to_numpy(float), own.to_numpy(float)]), chosen, 4


def generated():
    """The same of generated tables of 100,000 rows."""
    x, y = datasets.make_hastie_10_2(100_000, random_state=0)
    yield "hastie 100k", x, (y > 0).astype(int), 2
    x, y = datasets.make_friedman1(100_000, n_features=20, noise=1, random_state=0)
    yield "friedman1 100k", x, y, 0
    x, y = datasets.make_classification(100_000, 30, n_informative=15, n_classes=5, random_state=0)
    yield "classes 100k", x, y, 5
