"""The tasks that are not on tables: each from data that a few iterations can learn."""
import math
import struct
import wave

import numpy
import pandas
import polars
import pyarrow
import pytest

from swift_coreml import createml

SPAM = ["win a free prize now", "free money for you", "claim the prize money", "you win money"]
HAM = ["the meeting is at noon", "see you at the office", "lunch at noon today", "the report is on the desk"]
TEXTS = {"text": (SPAM + HAM) * 8, "label": (["spam"] * 4 + ["ham"] * 4) * 8}


def test_texts(kind, tmp_path):
    from training_data import as_kind
    data = as_kind(kind, {name: numpy.array(values) for name, values in TEXTS.items()})
    model = createml.TextClassifier.train(data, validation=None, progress=False)
    assert model.training_metrics.accuracy == 1
    assert list(model.predict(["free prize", "noon at the office"])) == ["spam", "ham"]
    answers = model.predict(data)
    assert (answers.to_pylist() if kind == "pyarrow" else list(answers)) == TEXTS["label"]
    chances = createml.Table.of(model.predict_probabilities(data)).to_dict()
    assert set(chances) == {"ham", "spam"} and all(abs(a + b - 1) < 1e-6 for a, b in zip(chances["ham"], chances["spam"]))
    assert model.evaluate(data).examples == 64
    model.save(tmp_path / "t.mlmodel")


def test_series_of_texts():
    model = createml.TextClassifier.train(TEXTS, validation=None, progress=False)
    for series in (pandas.Series(["free prize"]), polars.Series(["free prize"]), pyarrow.array(["free prize"]),
                   numpy.array(["free prize"])):
        answer = model.predict(series)
        assert (answer.to_pylist() if isinstance(answer, pyarrow.Array) else list(answer)) == ["spam"], type(series)


def test_texts_of_folders_and_sessions(tmp_path):
    for label, texts in (("spam", SPAM), ("ham", HAM)):
        (tmp_path / "data" / label).mkdir(parents=True)
        for number, text in enumerate(texts):
            (tmp_path / "data" / label / f"{number}.txt").write_text(text)
    model = createml.TextClassifier.train(tmp_path / "data", validation=None, session=tmp_path / "s", checkpoint_interval=1)
    assert model.evaluate(tmp_path / "data").accuracy == 1
    again = createml.TextClassifier.train(tmp_path / "data", validation=None, session=tmp_path / "s", progress=False)
    assert again.predict(SPAM + HAM) == model.predict(SPAM + HAM)
    with pytest.raises(createml.TrainingError, match="algorithm of TextClassifier is 'magic'"):
        createml.TextClassifier.train(TEXTS, algorithm="magic")


def test_words(tmp_path):
    tokens = [["Anna", "sees", "Rome"], ["Bert", "likes", "Paris"], ["Anna", "likes", "Oslo"]] * 10
    labels = [["person", "none", "place"]] * 30
    for data in ({"tokens": tokens, "labels": labels}, polars.DataFrame({"tokens": tokens, "labels": labels}),
                 pyarrow.table({"tokens": tokens, "labels": labels})):
        model = createml.WordTagger.train(data, validation=None, progress=False)
        assert model.training_metrics.accuracy == 1 and model.evaluate(data).accuracy == 1
    answer = model.predict(["Bert sees Oslo"])
    assert answer == {"tokens": [["Bert", "sees", "Oslo"]], "labels": [["person", "none", "place"]]}
    assert model.predict(polars.DataFrame({"tokens": tokens})).to_list() == labels
    model.save(tmp_path / "w.mlmodel")


def test_embeddings_and_gazetteers(tmp_path):
    vectors = {"word": ["cat", "dog", "car"], "vector": [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]}
    for data in (vectors, polars.DataFrame(vectors), {"word": vectors["word"], "vector": numpy.array(vectors["vector"])}):
        embedding = createml.WordEmbedding.train(data)
        assert (embedding.dimension, embedding.vocabulary_size) == (2, 3)
    assert embedding.neighbors(["cat", "unknown"], max_count=1) == {
        "word": ["cat"], "neighbor": ["dog"], "distance": pytest.approx([1 - 0.9 / math.hypot(0.9, 0.1)], abs=1e-3)}
    assert embedding.vectors(["car", "unknown"]) == [[0.0, 1.0], None]
    embedding.save(tmp_path / "e.mlmodel")
    transfer = createml.TextClassifier.train(
        {"text": ["cat dog", "car"] * 20, "label": ["animal", "thing"] * 20}, validation=None, progress=False,
        algorithm="transferLearning", embedding=tmp_path / "e.mlmodel")
    assert transfer.predict(["dog"]) == ["animal"]
    with pytest.raises(createml.TrainingError, match="'cat' of row 1 has a vector already"):
        createml.WordEmbedding.train({"word": ["cat", "cat"], "vector": [[1.0], [2.0]]})
    gazetteer = createml.Gazetteer.train(pandas.DataFrame({"text": ["Rome", "Anna"], "label": ["place", "person"]}))
    assert list(gazetteer.predict(pandas.Series(["Anna", "nobody"]))) == ["person", ""]
    with pytest.raises(createml.TrainingError, match='the term "Rome" has the labels'):
        createml.Gazetteer.train({"text": ["Rome", "Rome"], "label": ["place", "person"]})


def test_recommendations():
    users = ["a", "a", "a", "b", "b", "c", "c", "d"]
    items = ["tea", "cup", "pot", "tea", "cup", "tea", "pot", "tea"]
    frame = polars.DataFrame({"user": users, "item": items})
    model = createml.Recommender.train(frame)
    best = model.recommend(["d"], max_count=2)
    assert isinstance(best, polars.DataFrame) and set(best["item"]) == {"cup", "pot"} and best["rank"].to_list() == [1, 2]
    assert set(model.similar_items(["tea"])["similar"]) == {"cup", "pot"}
    assert model.recommend(["d"], restricting_to_items=["pot"])["item"].to_list() == ["pot"]
    metrics = model.evaluate({"user": ["d"], "item": ["cup"]}, cutoffs=[1, 2])
    assert metrics.cutoffs == [1, 2] and metrics.recall[1] == 1
    numbers = createml.Recommender.train({"user": [1, 1, 2], "item": [10, 20, 10], "stars": [5.0, 1.0, 4.0]}, rating="stars")
    assert numbers.recommend(numpy.array([2]))["item"] == [20]
    with pytest.raises(createml.TrainingError, match="Pearson"):
        createml.Recommender.train(frame, similarity="pearson")
    with pytest.raises(createml.TrainingError, match="similarity.*'magic'.*jaccard, cosine, pearson"):
        createml.Recommender.train(frame, similarity="magic")


def walks(seed=1):
    random, rows = numpy.random.default_rng(seed), []
    for recording in range(12):
        fast = recording % 2
        phase = random.random() * 6
        for step in range(300):
            rows.append((math.sin(step / (2 if fast else 9) + phase), random.normal(0, 0.05), "run" if fast else "walk",
                         f"r{recording}"))
    return polars.DataFrame(rows, schema=["x", "y", "label", "recording"], orient="row")


def test_activities(tmp_path):
    frame = walks()
    options = {"features": ["x", "y"], "prediction_window_size": 50, "maximum_iterations": 3, "progress": False}
    model = createml.ActivityClassifier.train(frame, validation=0.2, session=tmp_path / "s", **options)
    assert model.evaluate(walks(2)).accuracy > 0.9
    labels = model.predict(frame)
    assert isinstance(labels, polars.Series) and len(labels) == len(frame)
    assert len(model.predict(frame, per_window=True)) == 12 * 6
    model.save(tmp_path / "a.mlmodel")
    again = createml.ActivityClassifier.resume(tmp_path / "s", progress=False)
    assert again.predict(frame).to_list() == labels.to_list()
    with pytest.raises(createml.TrainingError, match="no column 'z'"):
        createml.ActivityClassifier.train(frame, **{**options, "features": ["z"]})


def sound(path, frequency, seconds=2.0):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        samples = [int(12000 * math.sin(2 * math.pi * frequency * i / 16000)) for i in range(int(16000 * seconds))]
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))


def test_sounds(tmp_path):
    rows = []
    for label, base in (("low", 200), ("high", 2500)):
        (tmp_path / "data" / label).mkdir(parents=True)
        for number in range(3):
            path = tmp_path / "data" / label / f"{number}.wav"
            sound(path, base * (1 + 0.1 * number))
            rows.append((str(path), label))
    frame = pandas.DataFrame(rows, columns=["file", "label"])
    model = createml.SoundClassifier.train(frame, validation=None, max_iterations=10, progress=False)
    assert model.predict(frame).tolist() == frame["label"].tolist()
    assert model.evaluate(tmp_path / "data").accuracy == 1
    assert model.predict_probabilities(frame["file"].tolist())["low"][0] > 0.5
    folder = createml.SoundClassifier.train(tmp_path / "data", validation=None, max_iterations=10, progress=False)
    assert folder.predict(frame["file"].tolist()) == frame["label"].tolist()


def poses(joints, sessions, frames, seed=3):
    """Hands that are open or closed, at any place and of any size; actions open or close them."""
    random, rows = numpy.random.default_rng(seed), []
    for number in range(sessions):
        opens = number % 2
        (left, top), size, angles = random.random(2) * 0.2 + 0.4, random.random() * 0.1 + 0.1, numpy.linspace(0, 6, joints)
        for frame in range(frames):
            share = frame / (frames - 1) if frames > 1 else 1
            width = share if opens else 1 - share
            x = left + size * numpy.cos(angles) * (0.1 + width) + random.normal(0, 0.003, joints)
            y = top + size * numpy.sin(2 * angles) * (1.1 - width) + random.normal(0, 0.003, joints)
            rows.append((f"s{number}", "open" if opens else "close", [*x, *y, *[1.0] * joints]))
    return polars.DataFrame(rows, schema=["session_id", "label", "keypoints"], orient="row")


@pytest.mark.parametrize("task, joints, frames, options", [
    (createml.HandPoseClassifier, 21, 1, {"augmentations": ["rotate"]}),
    (createml.HandActionClassifier, 21, 30, {"prediction_window_size": 30}),
    (createml.ActionClassifier, 18, 30, {"prediction_window_size": 30, "augmentations": []})])
def test_key_points(task, joints, frames, options, tmp_path):
    frame = poses(joints, 40, frames)
    model = task.train(frame, validation=None, maximum_iterations=30, session=tmp_path / "s", progress=False, **options)
    test = poses(joints, 20, frames, seed=4)
    assert model.evaluate(test).accuracy > 0.85
    answer = model.predict(test.drop("label"))
    assert isinstance(answer, polars.DataFrame) and answer.columns[:3] == ["session_id", "label", "confidence"]
    truth = test.group_by("session_id", maintain_order=True).first()["label"].to_list()
    assert sum(a == b for a, b in zip(answer["label"], truth)) >= 17
    assert "frame" in model.predict(test, per_window=True).columns
    model.save(tmp_path / "m.mlmodel")
    again = task.resume(tmp_path / "s", progress=False)
    assert again.predict(test)["label"].to_list() == answer["label"].to_list()
    with pytest.raises(createml.TrainingError, match="'magic' is not an augmentation"):
        task.train(frame, augmentations=["magic"], progress=False)
    array = {"session_id": frame["session_id"].to_list(), "label": frame["label"].to_list(),
             "keypoints": numpy.array(frame["keypoints"].to_list())}
    assert len(createml.Table.of(array)) == len(frame)
