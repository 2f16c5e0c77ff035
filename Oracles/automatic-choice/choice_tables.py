"""The small tables that the automatic choice of an algorithm is held against other choices on."""
import dataclasses

import numpy as np
import pandas
import sklearn.datasets as made
from statsmodels import datasets

# Of larger tables so many rows are drawn.
MOST_ROWS = 2000


@dataclasses.dataclass
class Table:
    name: str
    features: pandas.DataFrame
    target: pandas.Series
    is_classifier: bool

    def __post_init__(self):
        if len(self.target) > MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).choice(len(self.target), MOST_ROWS, replace=False))
            self.features, self.target = self.features.iloc[rows], self.target.iloc[rows]
        self.features = self.features.reset_index(drop=True)
        self.target = self.target.reset_index(drop=True).astype(int if self.is_classifier else float).rename("target")


def arrays(name, x, y, is_classifier):
    return Table(name, pandas.DataFrame(x, columns=[f"x{column}" for column in range(x.shape[1])]), pandas.Series(y),
                 is_classifier)


def columns(name, table, target, is_classifier=False, drop=()):
    """A column of a table from all others."""
    return Table(name, table.drop(columns=[target, *drop]), table[target], is_classifier)


def lagged(name, values, count):
    """A value of a series from those before it."""
    values = np.asarray(values, float)
    x = np.stack([values[count - lag:len(values) - lag] for lag in range(1, count + 1)], 1)
    return arrays(name, x, values[count:], False)


def bundled(name):
    return getattr(datasets, name).load_pandas().data


def travel():
    """A row a traveller: the waits, costs and times of four ways to travel, income and company; the way chosen."""
    table = bundled("modechoice")
    wide = table.pivot(index="individual", columns="mode", values=["ttme", "invc", "invt", "gc"])
    own = table.groupby("individual")[["hinc", "psize"]].first()
    chosen = table[table.choice == 1].sort_values("individual")["mode"].to_numpy(int) - 1
    return arrays("modechoice", np.hstack([wide.to_numpy(float), own.to_numpy(float)]), chosen, True)


def births():
    """A country's births in 2010 from those of every fifth year before 2000; some are missing."""
    table = bundled("fertility")
    table = table[table["2010"].notna()]
    return columns("fertility", table[[str(year) for year in (*range(1960, 2000, 5), 2010)]].add_prefix("y"), "y2010")


def schools():
    """The share of a district's pupils above the median, from what is known of the district."""
    table = bundled("star98")
    table["share"] = table.NABOVE / (table.NABOVE + table.NBELOW)
    return columns("star98", table, "share", drop=("NABOVE", "NBELOW"))


def tables():
    """30 of them, by turns for developing the choice (those with an even place) and for judging it alone."""
    anes, fair = bundled("anes96"), bundled("fair")
    return [
        columns("grunfeld", bundled("grunfeld"), "invest"),
        arrays("iris", *made.load_iris(return_X_y=True), True),
        arrays("diabetes", *made.load_diabetes(return_X_y=True, scaled=False), False),
        arrays("wine", *made.load_wine(return_X_y=True), True),
        arrays("breast_cancer", *made.load_breast_cancer(return_X_y=True), True),
        columns("ccard", bundled("ccard"), "AVGEXP"),
        arrays("digits", *made.load_digits(return_X_y=True), True),
        columns("copper", bundled("copper"), "WORLDCONSUMPTION"),
        columns("statecrime", bundled("statecrime"), "murder"),
        arrays("linnerud", made.load_linnerud().data, made.load_linnerud().target[:, 1], False),
        arrays("moons", *made.make_moons(300, noise=0.3, random_state=0), True),
        arrays("hastie", *made.make_hastie_10_2(1000, random_state=0), True),
        arrays("friedman1", *made.make_friedman1(400, noise=1, random_state=0), False),
        columns("macrodata", bundled("macrodata"), "unemp"),
        columns("vote", anes, "vote", True),
        columns("party", anes, "PID", True),
        schools(),
        columns("cancer", bundled("cancer"), "cancer"),
        columns("affairs", fair.assign(affairs=(fair.affairs > 0)), "affairs", True),
        columns("randhie", bundled("randhie"), "mdvis"),
        travel(),
        arrays("classes", *made.make_classification(600, 20, n_informative=6, n_classes=3, random_state=0), True),
        lagged("sunspots", bundled("sunspots").SUNACTIVITY, 12),
        births(),
        columns("stackloss", bundled("stackloss"), "STACKLOSS"),
        columns("scotland", bundled("scotland"), "YES"),
        columns("spector", bundled("spector"), "GRADE", True),
        columns("cpunish", bundled("cpunish"), "EXECUTIONS"),
        columns("heart", bundled("heart"), "survival"),
        columns("elnino", bundled("elnino"), "DEC"),
    ]


def split(count, seed):
    """The held-out rows: a quarter."""
    held = np.zeros(count, bool)
    held[np.random.default_rng(seed).permutation(count)[:round(count / 4)]] = True
    return held


def seeds(count):
    """How many ways a table of so many rows is split: small ones need more, and cost less."""
    return 6 if count < 100 else 3 if count < 500 else 2
