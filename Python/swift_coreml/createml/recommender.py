"""The recommender of Create ML."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Optional, Union

from . import _data
from ._data import Data, Table
from ._metrics import Metrics
from ._model import _WITHOUT, Model
from ._progress import Progress

Identifier = Union[str, int]


class Recommender(Model):
    """A recommender of items by their similarity.

    >>> from swift_coreml import createml
    >>> data = {"user": ["a", "a", "b", "b", "c"], "item": ["tea", "cup", "tea", "cup", "tea"]}
    >>> model = createml.Recommender.train(data)
    >>> model.recommend(["c"], max_count=1)["item"]
    ['cup']
    """

    _task: ClassVar[str] = "Recommender"
    _kind: Optional[Table] = None

    @classmethod
    def train(
        cls,
        data: Data,
        user: str = "user",
        item: str = "item",
        rating: Optional[str] = None,
        *,
        similarity: str = "cosine",
        threshold: float = 0.001,
        max_count: int = 64,
        progress: Progress = False,
    ) -> Recommender:
        """Trains on the choices of users.

        data: a table with a row for each choice.
        user, item, rating: the names of the columns of identifiers (texts or whole numbers), and of ratings, if there are any.
        similarity: cosine, jaccard or pearson, which compares ratings.
        threshold: lower or equal similarities are dropped.
        max_count: the maximum number of similar items that are kept for an item.
        progress: has no effect, as there are no iterations.
        """
        table = _data.table(data)
        model = cls._train(
            table, {"user": user, "item": item, "rating": rating},
            {"similarity": similarity, "threshold": threshold, "max_count": max_count}, validation=_WITHOUT, progress=progress)
        # Only the kind is kept, not the choices.
        model._kind = Table.__new__(Table)
        model._kind._kind, model._kind._index = table._kind, None
        return model

    def evaluate(self, data: Data, cutoffs: Sequence[int] = (1, 2, 3, 4, 5), excluding_observed: bool = True) -> Metrics:
        """Precision and recall of recommendations at some numbers of them, on other choices of users."""
        return self._evaluated(data, {"cutoffs": list(cutoffs), "excludingObserved": excluding_observed})

    def recommend(
        self,
        users: Sequence[Identifier],
        max_count: int = 10,
        restricting_to_items: Optional[Sequence[Identifier]] = None,
        excluding_observed: bool = True,
    ) -> Any:
        """The best items for users: a table of user, item, `score` and `rank`, in the kind of the data of training."""
        result = self._predicted(
            None, users=_plain(users), max_count=max_count, restricting_to_items=_plain(restricting_to_items),
            excluding_observed=excluding_observed)
        return self._in_kind(result)

    def similar_items(self, items: Sequence[Identifier], max_count: int = 10) -> Any:
        """The most similar items of each item: a table of item, `similar`, `score` and `rank`."""
        return self._in_kind(self._predicted(None, similar_to=_plain(items), max_count=max_count))

    def _in_kind(self, result: Table) -> Any:
        return _data.given(result, result if self._kind is None else self._kind)


def _plain(values: Optional[Sequence[Identifier]]) -> Optional[list[Identifier]]:
    if values is None:
        return None
    return [value.item() if hasattr(value, "item") else value for value in values]
