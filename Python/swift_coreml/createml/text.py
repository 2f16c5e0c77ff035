"""The tasks of Create ML on texts and words."""
from __future__ import annotations

from typing import Any, ClassVar, Optional

from . import _data
from ._data import Data, Path
from ._metrics import Metrics
from ._model import _WITHOUT, Model, Validation
from ._progress import Progress


class TextClassifier(Model):
    """A classifier of texts.

    >>> from swift_coreml import createml
    >>> data = {"text": ["win a prize now", "free prize money", "meeting at noon", "see you at noon"] * 5,
    ...         "label": ["spam", "spam", "ham", "ham"] * 5}
    >>> model = createml.TextClassifier.train(data, validation=None)
    >>> model.predict(["a free prize", "at noon"])
    ['spam', 'ham']
    """

    _task: ClassVar[str] = "TextClassifier"

    @classmethod
    def train(
        cls,
        data: Data,
        text: str = "text",
        label: str = "label",
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        algorithm: str = "maxEnt",
        language: Optional[str] = None,
        max_iterations: Optional[int] = None,
        embedding: Optional[Path] = None,
    ) -> TextClassifier:
        """Trains on labelled texts.

        data: a table with a column for the texts and one for the labels, or a folder with a folder of texts for each label.
        text, label: the names of the columns.
        validation: the texts to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.
        checkpoint_interval: the number of passes between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        algorithm: maxEnt, crf or transferLearning.
        language: the language of the texts, a BCP 47 tag, for word boundaries.
        max_iterations: the maximum number of passes over the texts.
        embedding: for transferLearning, the path of a word embedding.
        """
        return cls._train(
            data, {"text": text, "label": label},
            {
                "algorithm": algorithm, "language": language, "max_iterations": max_iterations,
                "embedding": None if embedding is None else str(embedding),
            },
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress,
            takes_folders=True)

    @property
    def target(self) -> str:
        """The name of the column of labels."""
        return str(self._facts["target"])

    def evaluate(self, data: Data) -> Metrics:
        """The performance on labelled texts, a table or a folder."""
        return self._evaluated(data, {}, takes_folders=True)

    def predict(self, data: Any) -> Any:
        """The labels of texts: of a list or series of them, or of a table with their column; in the kind of the data."""
        table = _data.texts(data, self.features[0])
        return _data.given(self._predicted(table), table, self.target)

    def predict_probabilities(self, data: Any) -> Any:
        """The probability of each label for every text: a table in the kind of the data, with a column for each label."""
        table = _data.texts(data, self.features[0])
        return _data.given(self._predicted(table, probabilities=True), table)


class WordTagger(Model):
    """A tagger of words.

    >>> from swift_coreml import createml
    >>> data = {"tokens": [["Anna", "sees", "Rome"], ["Bert", "likes", "Paris"]] * 10,
    ...         "labels": [["person", "none", "place"], ["person", "none", "place"]] * 10}
    >>> model = createml.WordTagger.train(data, validation=None)
    >>> model.predict([["Anna", "likes", "Paris"]])
    [['person', 'none', 'place']]
    """

    _task: ClassVar[str] = "WordTagger"

    @classmethod
    def train(
        cls,
        data: Data,
        tokens: str = "tokens",
        labels: str = "labels",
        *,
        validation: Validation = "auto",
        session: Optional[Path] = None,
        checkpoint_interval: int = 10,
        progress: Progress = "auto",
        algorithm: str = "crf",
        language: Optional[str] = None,
        max_iterations: Optional[int] = None,
    ) -> WordTagger:
        """Trains on sentences.

        data: a table with a row for each sentence, a column of lists of tokens, and one of lists of their labels.
        tokens, labels: the names of the columns.
        validation: the sentences to validate on: "auto" for a part of the data, None, their share, (share, seed), or data.
        session: a folder for checkpoints; the same call with the same folder goes on from them.
        checkpoint_interval: the number of passes between two checkpoints.
        progress: whether to show progress; "auto" in terminals and notebooks; or a function that gets each report.
        algorithm: crf.
        language: the language, a BCP 47 tag, for the boundaries of words.
        max_iterations: the maximum number of passes over the sentences.
        """
        return cls._train(
            data, {"tokens": tokens, "labels": labels},
            {"algorithm": algorithm, "language": language, "max_iterations": max_iterations},
            validation=validation, session=session, checkpoint_interval=checkpoint_interval, progress=progress)

    @property
    def target(self) -> str:
        """The name of the column of labels."""
        return str(self._facts["target"])

    def evaluate(self, data: Data) -> Metrics:
        """The performance on labelled sentences, word by word."""
        return self._evaluated(data, {})

    def predict(self, data: Any) -> Any:
        """The labels of tokens: of a list of lists or of a table with their column.

        For texts, which are divided into words, it is a table of tokens and labels.
        """
        table = _data.texts(data, self.features[0])
        result = self._predicted(table)
        names = list(result.to_dict())
        return _data.given(result, table, self.target if names == [self.target] else None)


class WordEmbedding(Model):
    """Vectors of words.

    >>> from swift_coreml import createml
    >>> data = {"word": ["cat", "dog", "car"], "vector": [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]}
    >>> embedding = createml.WordEmbedding.train(data)
    >>> embedding.neighbors(["cat"], max_count=1)["neighbor"]
    ['dog']
    """

    _task: ClassVar[str] = "WordEmbedding"

    @classmethod
    def train(
        cls, data: Data, word: str = "word", vector: str = "vector", *, language: Optional[str] = None,
        progress: Progress = False,
    ) -> WordEmbedding:
        """Makes an embedding of words with their vectors.

        data: a table with a column of words and one of lists of numbers, all of one length.
        word, vector: the names of the columns.
        language: the language of the words, a BCP 47 tag.
        progress: has no effect, as there are no iterations.
        """
        return cls._train(
            data, {"word": word, "vector": vector}, {"language": language}, validation=_WITHOUT, progress=progress)

    @property
    def dimension(self) -> int:
        """The number of values of a vector."""
        return int(self._facts["counts"]["dimension"])

    @property
    def vocabulary_size(self) -> int:
        """The number of words."""
        return int(self._facts["counts"]["vocabularySize"])

    def neighbors(self, data: Any, max_count: int = 10, max_distance: float = 2.0) -> Any:
        """The nearest words of each word: a table of `word`, `neighbor` and `distance`, in the kind of the data."""
        table = _data.texts(data, self.features[0])
        return _data.given(self._predicted(table, max_count=max_count, max_distance=max_distance), table)

    def vectors(self, data: Any) -> list[Optional[list[float]]]:
        """The vectors of words; `None` for words that are not known."""
        table = _data.texts(data, self.features[0])
        return [None if row is None else [float(value) for value in row]
                for row in next(iter(self._predicted(table, vectors=True).to_dict().values()))]


class Gazetteer(Model):
    """Terms with labels, which are looked up.

    >>> from swift_coreml import createml
    >>> gazetteer = createml.Gazetteer.train({"text": ["Rome", "Paris", "Anna"], "label": ["place", "place", "person"]})
    >>> gazetteer.predict(["Paris", "Anna", "unknown"])
    ['place', 'person', '']
    """

    _task: ClassVar[str] = "Gazetteer"

    @classmethod
    def train(
        cls, data: Data, text: str = "text", label: str = "label", *, language: Optional[str] = None,
        progress: Progress = False,
    ) -> Gazetteer:
        """Makes a gazetteer of terms and their labels.

        data: a table with a column of terms and one of labels.
        text, label: the names of the columns.
        language: the language of the terms, a BCP 47 tag.
        progress: has no effect, as there are no iterations.
        """
        return cls._train(data, {"text": text, "label": label}, {"language": language}, validation=_WITHOUT, progress=progress)

    @property
    def target(self) -> str:
        """The name of the column of labels."""
        return str(self._facts["target"])

    def predict(self, data: Any) -> Any:
        """The labels of terms, empty for those that are not known; in the kind of the data."""
        table = _data.texts(data, self.features[0])
        return _data.given(self._predicted(table), table, self.target)
