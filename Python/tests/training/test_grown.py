"""Boosted trees that were grown elsewhere become the pipeline of local training."""
import json

import pytest

from swift_coreml import createml
from swift_coreml.createml import _native


def tree(*nodes):
    """Nodes are (column, threshold, left, right, missing goes left), leaves numbers."""
    branches = [node if isinstance(node, tuple) else (-1, 0, -1, -1, False) for node in nodes]
    names = ["features", "thresholds", "lefts", "rights", "missingGoesLeft"]
    return {
        **{name: [branch[place] for branch in branches] for place, name in enumerate(names)},
        "values": [0 if isinstance(node, tuple) else node for node in nodes]}


STUMP = tree((0, 2.5, 1, 2, False), -1.5, 3.0)
GROWN = {"target": "price", "features": [{"name": "size"}, {"name": "town", "categories": ["Oslo", "Rome"]}], "trees": [
    STUMP, tree((2, 0.5, 1, 2, True), 10.0, 20.0)]}


def model(kind=createml.BoostedTreeRegressor, **changes):
    return kind(_native.Handle(_native.call("trained_from_trees", json.dumps({**GROWN, **changes}).encode())))


def test_a_regressor_adds_leaves(tmp_path):
    rows = {"size": [1.0, 2.5, None, 9.0], "town": ["Rome", "Oslo", "Wien", None]}
    expected = [0.5 - 1.5 + 20, 0.5 + 3 + 10, 0.5 + 3 + 10, 0.5 + 3 + 10]
    grown = model()
    assert grown.predict(rows) == expected and grown.features == ["size", "town"] and grown.target == "price"
    grown.save(tmp_path / "Grown.mlmodel")
    assert createml.BoostedTreeRegressor.load(tmp_path / "Grown.mlmodel").predict(rows) == expected


def test_classifiers_of_two_and_of_three_classes():
    rows = {"size": [1.0, 9.0], "town": ["Rome", "Rome"]}
    two = model(createml.BoostedTreeClassifier, textLabels=["low", "high"], trees=[STUMP])
    assert two.classes == ["low", "high"] and two.predict(rows) == ["low", "high"]
    three = model(createml.BoostedTreeClassifier, integerLabels=[3, 5, 8], trees=[STUMP, tree(0.5), tree(-9.0)])
    assert three.predict(rows) == [5, 3]


@pytest.mark.parametrize("changes, says", [
    ({"trees": []}, "whole number of rounds"),
    ({"textLabels": ["one"]}, "whole number of rounds"),
    ({"integerLabels": [1, 2, 3]}, "whole number of rounds"),
    ({"trees": [tree((3, 0.5, 1, 2, True), 1.0, 2.0)]}, "column 3 of 3"),
    ({"trees": [tree((0, 0.5, 0, 2, True), 1.0, 2.0)]}, "below node 0"),
    ({"trees": [tree((0, 0.5, 1, 3, True), 1.0, 2.0)]}, "below node 0"),
    ({"trees": [{**STUMP, "values": [1.0]}]}, "different lengths"),
    ({"trees": [{**STUMP, "values": [0.0, 1e60, 0.0]}]}, None),
    ({"trees": [tree()]}, "different lengths"),
    ({"features": 3}, None),
])
def test_what_is_no_tree_is_refused(changes, says):
    with pytest.raises(createml.TrainingError, match=says):
        model(**changes)
