"""The tasks on pictures, with small pictures and networks made here: every kind of data, the command line's models, sessions."""
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys

import numpy
import pandas
import polars
import pyarrow
import pytest
from PIL import Image

from swift_coreml import createml
from swift_coreml.createml import _pictures

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import handmade  # noqa: E402

COREML = os.environ.get("COREML_TOOL", str(pathlib.Path(__file__).resolve().parents[3] / ".build" / "release" / "coreml"))
needs_tool = pytest.mark.skipif(not os.path.exists(COREML), reason="needs the command coreml: COREML_TOOL")
LEARNED = {"feature_extractor": "learned", "max_iterations": 8, "progress": False}


@pytest.fixture(autouse=True)
def no_extractors(tmp_path, monkeypatch):
    """Nothing is installed but what a test makes."""
    monkeypatch.setenv("COREML_EXTRACTORS", str(tmp_path / "extractors"))


def picture(label, seed, side=32):
    """Stripes that are flat or upright, with noise, as RGB."""
    random = numpy.random.default_rng(seed)
    stripes = numpy.tile(numpy.arange(side) // 4 % 2 * 150, (side, 1))[..., None] + random.integers(0, 60, (side, side, 3))
    return (stripes.swapaxes(0, 1) if label == "flat" else stripes).astype(numpy.uint8)


def labelled(folder, count=8, seed=0):
    """Files of pictures, in a folder for each label: the paths and labels in the order of training."""
    rows = []
    for label in ("flat", "upright"):
        (folder / label).mkdir(parents=True)
        for number in range(count):
            path = folder / label / f"{number}.png"
            Image.fromarray(picture(label, seed + len(rows))).save(path)
            rows.append((str(path), label))
    return [path for path, _ in rows], [label for _, label in rows]


def saved(model, folder, name="m"):
    path = folder / f"{name}.mlmodel"
    model.save(path)
    return path.read_bytes()


# Classifiers


def test_every_kind_of_data_gives_the_same_model(tmp_path):
    paths, labels = labelled(tmp_path / "data")
    arrays = [numpy.asarray(Image.open(path)) for path in paths]
    names = {"image": paths, "label": labels}
    relative = pandas.DataFrame({"image": [os.path.relpath(path, tmp_path) for path in paths], "label": labels})
    relative.to_csv(tmp_path / "table.csv", index=False)
    (tmp_path / "named").mkdir()
    for path, label in zip(paths, labels):
        os.link(path, tmp_path / "named" / f"{label}.{os.path.basename(path)}")
    by_label = {label: [path for path, own in zip(paths, labels) if own == label] for label in set(labels)}
    models = {
        name: createml.ImageClassifier.train(data, validation=0.25, **LEARNED) for name, data in {
            "folder": tmp_path / "data", "named": tmp_path / "named", "dictionary": names, "by label": by_label,
            "pandas": pandas.DataFrame(names), "polars": polars.DataFrame(names), "pyarrow": pyarrow.table(names),
            "file": tmp_path / "table.csv", "paths": {"image": [pathlib.Path(path) for path in paths], "label": labels},
            "arrays": {"image": arrays, "label": labels},
            "pillow": pandas.DataFrame({"image": [Image.fromarray(array) for array in arrays], "label": labels})}.items()}
    files = {name: saved(model, tmp_path) for name, model in models.items()}
    assert len(set(files.values())) == 1, [name for name in files if files[name] != files["folder"]]
    model = models["folder"]
    assert model.validation_metrics.examples == 4 and model.training_metrics.accuracy == 1
    assert model.target == "label" and model.features == ["image"]
    assert any("learned from the training pictures" in text for text in model.warnings)


@needs_tool
def test_the_command_line_gives_the_same_model(tmp_path):
    labelled(tmp_path / "data")
    subprocess.run(
        [COREML, "train", "image", tmp_path / "data", "--extractor", "learned", "--iterations", "8", "--augment", "flip",
         "--layers", "6", "--json", "-o", tmp_path / "c.mlmodel"], check=True, stdout=subprocess.DEVNULL)
    model = createml.ImageClassifier.train(tmp_path / "data", **LEARNED, augmentations=["flip"], layer_sizes=[6])
    assert saved(model, tmp_path) == (tmp_path / "c.mlmodel").read_bytes()


def test_pictures_are_predicted_from_files_and_memory(tmp_path):
    paths, labels = labelled(tmp_path / "data")
    model = createml.ImageClassifier.train(tmp_path / "data", validation=None, **LEARNED)
    held, truth = labelled(tmp_path / "held", count=3, seed=100)
    arrays = [numpy.asarray(Image.open(path)) for path in held]
    assert model.predict(held) == truth and model.predict(tuple(arrays)) == truth
    assert model.predict([pathlib.Path(held[0]), arrays[1], Image.fromarray(arrays[5])]) == [truth[0], truth[1], truth[5]]
    for single in (held[0], pathlib.Path(held[0]), arrays[0], Image.open(held[0]), numpy.asarray(Image.open(held[0]).convert("L")),
                   numpy.asarray(Image.open(held[0]).convert("RGBA")), Image.open(held[0]).convert("P")):
        assert model.predict(single) == "flat"
    assert model.predict(numpy.stack(arrays)).tolist() == truth
    assert isinstance(model.predict(pandas.Series(held, index=range(10, 16))), pandas.Series)
    assert model.predict(pandas.Series(held, index=range(10, 16))).index[0] == 10
    assert model.predict(polars.DataFrame({"image": held})).to_list() == truth
    assert model.predict(pyarrow.array(held)).to_pylist() == truth
    assert model.predict(pandas.DataFrame({"image": arrays})).tolist() == truth
    pandas.DataFrame({"image": [os.path.relpath(path, tmp_path) for path in held]}).to_csv(tmp_path / "held.csv", index=False)
    assert model.predict(tmp_path / "held.csv") == truth
    assert model.predict([]) == []
    single = model.predict_probabilities(held[0])
    assert set(single) == {"flat", "upright"} and sum(single.values()) == pytest.approx(1, abs=1e-5) and single["flat"] > 0.5
    table = model.predict_probabilities(held)
    from_memory = model.predict_probabilities(arrays)
    assert table == from_memory and table["flat"][0] == single["flat"]
    assert isinstance(model.predict_probabilities(polars.DataFrame({"image": held})), polars.DataFrame)


def test_evaluation_lists_what_went_wrong(tmp_path):
    paths, labels = labelled(tmp_path / "data")
    model = createml.ImageClassifier.train(tmp_path / "data", validation=None, **LEARNED)
    assert model.evaluate(tmp_path / "data").accuracy == 1
    wrong = ["upright", *labels[1:]]
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    metrics = model.evaluate({"image": [*paths, tmp_path / "broken.png"], "label": [*wrong, "flat"]})
    assert isinstance(metrics, createml.ImageClassifierMetrics) and metrics.examples == 16
    (entry,) = metrics.misclassified
    assert entry["image"] == paths[0] and entry["label"] == "upright" and entry["prediction"] == "flat" and entry["confidence"] > 0.5
    assert [skipped["image"] for skipped in metrics.skipped] == [str(tmp_path / "broken.png")]
    assert metrics.confusion_matrix().tolist() == [[7, 0], [1, 8]] and "<svg" in metrics._repr_html_()
    metrics.save_picture(tmp_path / "confusion.svg")
    metrics.save_picture(tmp_path / "confusion.png")
    arrays = [numpy.asarray(Image.open(path)) for path in paths]
    assert model.evaluate({"image": arrays, "label": wrong}).misclassified[0]["image"] == 0
    held = createml.ImageClassifier.train(
        {"image": arrays, "label": labels}, validation={"image": arrays, "label": wrong}, **LEARNED)
    assert held.validation_metrics.misclassified[0]["image"] == 0 and held.training_metrics.misclassified == []


def test_features(tmp_path):
    labelled(tmp_path / "data")
    with pytest.warns(createml.TrainingWarning, match="'efficientnet-lite0' is not installed.*coreml extractor install"):
        model = createml.ImageClassifier.train(tmp_path / "data", validation=None, progress=False, max_iterations=5)
    assert model.warnings and "Warning" in str(model)
    own = network(tmp_path / "own.mlmodel")
    model = createml.ImageClassifier.train(
        tmp_path / "data", validation=None, progress=False, feature_extractor=own, feature_extractor_output="features",
        max_iterations=5)
    assert model.warnings == [] and model.training_metrics.accuracy == 1
    with pytest.raises(createml.TrainingError, match="no feature extractor 'magic'; known are efficientnet-lite0"):
        createml.ImageClassifier.train(tmp_path / "data", feature_extractor="magic")
    with pytest.raises(createml.TrainingError, match="nowhere.mlmodel"):
        createml.ImageClassifier.train(tmp_path / "data", feature_extractor=tmp_path / "nowhere.mlmodel")
    with pytest.raises(createml.TrainingError, match="'efficientnet-lite0' is not installed"):
        createml.ImageClassifier.train(tmp_path / "data", feature_extractor="efficientnet-lite0")
    with pytest.raises(createml.TrainingError, match="name it by feature_extractor"):
        createml.ImageClassifier.train(tmp_path / "data", feature_extractor_output="features")


def test_wrong_pictures(tmp_path):
    paths, labels = labelled(tmp_path / "data")
    train = lambda data, **options: createml.ImageClassifier.train(data, **{**LEARNED, **options})
    (tmp_path / "empty").mkdir()
    with pytest.raises(createml.TrainingError, match="is empty; put the files of each label"):
        train(tmp_path / "empty")
    with pytest.raises(createml.TrainingError, match="one label, 'flat'"):
        train({"flat": paths[:8]})
    with pytest.raises(createml.TrainingError, match="'magic' is not an augmentation"):
        train(tmp_path / "data", augmentations=["magic"])
    with pytest.raises(createml.TrainingError, match="no column 'label'"):
        train(pandas.DataFrame({"image": paths}))
    with pytest.raises(ValueError, match="not of float64 of the shape \\[32, 32, 3\\]"):
        train({"flat": [numpy.zeros((32, 32, 3))], "upright": paths[8:]})
    with pytest.raises(TypeError, match="a int is not an image"):
        train({"image": [3, 4], "label": ["a", "b"]})
    with pytest.raises(ValueError, match="a session finds images by their files"):
        train({"flat": [picture("flat", 1)], "upright": paths[8:]}, session=tmp_path / "s")
    (tmp_path / "data" / "flat" / "broken.png").write_bytes(b"")
    (tmp_path / "data" / "flat" / "text.jpg").write_text("no picture")
    model = train(tmp_path / "data", validation=None)
    assert {os.path.basename(entry["image"]) for entry in model.skipped_images} == {"broken.png", "text.jpg"}
    assert all(entry["reason"] for entry in model.skipped_images)
    with pytest.raises(createml.TrainingError, match="broken.png: the file is empty"):
        model.predict(tmp_path / "data" / "flat" / "broken.png")
    with pytest.raises(createml.TrainingError, match="nowhere.png"):
        model.predict([tmp_path / "nowhere.png"])
    with pytest.raises(ValueError, match="is a folder; pass the paths of its images"):
        model.predict(tmp_path / "data")
    for wrong, words in ((numpy.zeros((4, 4, 2), dtype=numpy.uint8), "uint8 of the shape \\[4, 4, 2\\]"),
                         (numpy.zeros((0, 4), dtype=numpy.uint8), "no pixels"), (Image.new("F", (4, 4)), "mode F")):
        with pytest.raises(ValueError, match=words):
            model.predict([wrong])
    with pytest.raises(TypeError, match="is not an image"):
        model.predict([paths[0], {"pixels": 3}])


def interrupted(at):
    def show(report):
        if report["phase"] == "training" and report["iteration"] >= at:
            os.kill(os.getpid(), signal.SIGINT)
    return show


def test_an_interrupted_session_goes_on(tmp_path):
    labelled(tmp_path / "data")
    options = {"validation": None, "feature_extractor": "learned", "max_iterations": 60, "layer_sizes": [20]}
    whole = createml.ImageClassifier.train(tmp_path / "data", **options, progress=False)
    session = {"session": tmp_path / "s", "checkpoint_interval": 1}
    with pytest.raises(KeyboardInterrupt):
        createml.ImageClassifier.train(tmp_path / "data", **options, **session, progress=interrupted(2))
    first = []
    again = createml.ImageClassifier.train(tmp_path / "data", **options, **session, progress=first.append)
    assert first[0]["phase"] == "training" and first[0]["iteration"] >= 2
    assert saved(again, tmp_path) == saved(whole, tmp_path)
    resumed = createml.ImageClassifier.resume(tmp_path / "s", progress=False)
    assert saved(resumed, tmp_path) == saved(whole, tmp_path) and resumed.target == "label"
    with pytest.raises(createml.TrainingError, match="The session was begun with"):
        createml.ImageClassifier.train(tmp_path / "data", **{**options, "layer_sizes": [3]}, **session, progress=False)


# Networks that stand for the installed ones


def layers(*entries):
    """A neural network that takes arrays of their own shape and pictures of four axes."""
    return [(1, entry) for entry in entries] + [(5, 1), (6, 1)]


def pooling(name, side, source="image"):
    return [(1, name), (2, source), (3, name), (120, [(1, 1), (10, side), (10, side), (20, side), (20, side), (30, [])])]


def network(path):
    """The mean colours of 7 × 7 fields, and a network of rectified convolutions at three sizes for styles."""
    random, entries, source = numpy.random.default_rng(3), [], "image"
    for number, (inputs, outputs, stride) in enumerate([(3, 8, 1), (8, 12, 2), (12, 12, 1), (12, 16, 2)]):
        weights = random.normal(0, (2 / (9 * inputs)) ** 0.5, outputs * inputs * 9)
        entries.append([(1, f"c{number}"), (2, source), (3, f"c{number}"), (100, [
            (1, outputs), (2, inputs), (10, 1), (20, 3), (20, 3), (30, stride), (30, stride), (51, []),
            (90, [(1, handmade.floats(weights))])])])
        source = "features" if number == 3 else f"r{number}"
        entries.append([(1, source), (2, f"c{number}"), (3, source), (130, [(10, [])])])
    scaler = [(1, "image"), (10, [(10, numpy.float32(1 / 255))])]
    return handmade.model(
        path, [("image", handmade.image(64, 64, handmade.RGB))], [("features", handmade.array([1, 16, 16, 16]))],
        (500, [*layers(*entries), (2, scaler)]))


def fingerprint(data):
    """The fingerprint that lies beside an installed network's file."""
    mask, state = (1 << 64) - 1, 0x9E3779B97F4A7C15
    whole = len(data) // 8 * 8
    for word in [len(data), *struct.unpack(f"<{whole // 8}Q", data[:whole]), int.from_bytes(data[whole:], "big")]:
        product = (state ^ word) * 0xD6E8FEB86659FD93
        state = ((product >> 64) ^ product & mask) + word & mask
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
    state = (state ^ state >> 27) * 0x94D049BB133111EB & mask
    return f"{state ^ state >> 31:x}\n"


@pytest.fixture
def installed(tmp_path):
    """A network in place of EfficientNet-Lite0: the mean colours of fields of 8, 16 and 32 pixels, under its values' names."""
    folder = tmp_path / "extractors" / "efficientnet-lite0"
    folder.mkdir(parents=True)
    names = ("block4.output", 8), ("block10.output", 16), ("block15.output", 32)
    handmade.model(
        folder / "model.mlmodel", [("image", handmade.image(224, 224, handmade.RGB))],
        [("block15.output", handmade.array([1, 3, 7, 7]))], (500, layers(*(pooling(*each) for each in names))))
    (folder / "fingerprint").write_text(fingerprint((folder / "model.mlmodel").read_bytes()))


# Detectors


def squares(folder, count=6):
    """Grey pictures with a green and a red square, and their boxes by centre and size in pixels."""
    folder.mkdir(parents=True)
    rows = []
    for number in range(count):
        random = numpy.random.default_rng(number)
        pixels = random.integers(100, 130, (120, 160, 3)).astype(numpy.uint8)
        objects = []
        for index, (label, colour) in enumerate((("green", (30, 200, 40)), ("red", (220, 30, 30)))):
            half = int(random.integers(12, 20))
            x, y = index * 80 + int(random.integers(half, 80 - half)), int(random.integers(half, 120 - half))
            pixels[y - half:y + half, x - half:x + half] = colour
            objects.append({"label": label, "coordinates": {"x": x, "y": y, "width": 2 * half, "height": 2 * half}})
        Image.fromarray(pixels).save(folder / f"{number}.png")
        rows.append({"image": f"{number}.png", "annotations": objects})
    (folder / "boxes.json").write_text(json.dumps(rows))
    return rows


DETECTOR = {"validation": None, "batch_size": 2, "max_iterations": 12, "progress": False}


def overlap(one, other):
    (ax, ay, aw, ah), (bx, by, bw, bh) = ([box[name] for name in ("x", "y", "width", "height")] for box in (one, other))
    wide = min(ax + aw / 2, bx + bw / 2) - max(ax - aw / 2, bx - bw / 2)
    high = min(ay + ah / 2, by + bh / 2) - max(ay - ah / 2, by - bh / 2)
    shared = max(wide, 0) * max(high, 0)
    return shared / (aw * ah + bw * bh - shared)


def test_every_form_of_annotations_gives_the_same_detector(installed, tmp_path):
    rows = squares(tmp_path / "data")
    paths = [str(tmp_path / "data" / row["image"]) for row in rows]
    objects = [row["annotations"] for row in rows]
    boxes = lambda row: [entry["coordinates"] for entry in row["annotations"]]
    (tmp_path / "voc").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "boxes.json").write_text((tmp_path / "data" / "boxes.json").read_text())
    coco = {"images": [{"id": number, "file_name": row["image"], "width": 160, "height": 120} for number, row in enumerate(rows)],
            "categories": [{"id": 1, "name": "green"}, {"id": 2, "name": "red"}],
            "annotations": [
                {"id": 2 * number + index, "image_id": number, "category_id": index + 1,
                 "bbox": [box["x"] - box["width"] / 2, box["y"] - box["height"] / 2, box["width"], box["height"]]}
                for number, row in enumerate(rows) for index, box in enumerate(boxes(row))]}
    (tmp_path / "other" / "coco.json").write_text(json.dumps(coco))
    lines = ["image,label,xmin,ymin,xmax,ymax"]
    for number, row in enumerate(rows):
        parts = []
        for entry in row["annotations"]:
            box = entry["coordinates"]
            half = box["width"] // 2
            corners = (box["x"] - half, box["y"] - half, box["x"] + half, box["y"] + half)
            lines.append(",".join([row["image"], entry["label"], *map(str, corners)]))
            parts.append(f"<object><name>{entry['label']}</name><bndbox>" + "".join(
                f"<{name}>{value}</{name}>" for name, value in zip(("xmin", "ymin", "xmax", "ymax"), corners)) + "</bndbox></object>")
        (tmp_path / "voc" / f"{number}.xml").write_text(
            f"<annotation><filename>{row['image']}</filename><size><width>160</width><height>120</height><depth>3</depth></size>"
            + "".join(parts) + "</annotation>")
    (tmp_path / "other" / "boxes.csv").write_text("\n".join(lines) + "\n")
    images = {"images": tmp_path / "data"}
    share = [[{**entry, "coordinates": {
        "x": box["x"] / 160, "y": 1 - (box["y"] + box["height"] / 2) / 120, "width": box["width"] / 160,
        "height": box["height"] / 120}} for entry, box in zip(row["annotations"], boxes(row))] for row in rows]
    options = {**DETECTOR, "max_iterations": 3}
    models = {name: createml.ObjectDetector.train(data, **options, **more) for name, data, more in [
        ("folder", tmp_path / "data", {}), ("file", tmp_path / "data" / "boxes.json", {}),
        ("other", tmp_path / "other" / "boxes.json", images), ("coco", tmp_path / "other" / "coco.json", images),
        ("csv", tmp_path / "other" / "boxes.csv", images), ("voc", tmp_path / "voc", images),
        ("dictionary", {"image": paths, "annotations": objects}, {}),
        ("texts", pandas.DataFrame({"image": paths, "annotations": [json.dumps(each) for each in objects]}), {}),
        ("pandas", pandas.DataFrame({"image": paths, "annotations": objects}), {}),
        ("polars", polars.DataFrame({"image": paths, "annotations": objects}), {}),
        ("pyarrow", pyarrow.table({"image": [row["image"] for row in rows], "annotations": objects}), images),
        ("memory", {"image": [numpy.asarray(Image.open(path)) for path in paths], "annotations": objects}, {}),
        ("normalized", {"image": paths, "annotations": share},
         {"units": "normalized", "origin": "bottomLeft", "anchor": "bottomLeft"})]}
    files = {name: saved(model, tmp_path) for name, model in models.items()}
    alike = [name for name in models if name not in ("csv", "voc", "normalized")]    # those round corners, or have no exact fractions
    assert len({files[name] for name in alike}) == 1, [name for name in alike if files[name] != files["folder"]]
    for name, data in (("normalized", {"image": paths, "annotations": share}), ("voc", tmp_path / "data")):
        mean = models[name].evaluate(data).mean_average_precision
        assert mean == pytest.approx(models["folder"].evaluate(tmp_path / "data").mean_average_precision, abs=0.05), name
    assert models["voc"].classes == models["folder"].classes == ["green", "red"]


def test_detectors_find_objects(installed, tmp_path):
    rows = squares(tmp_path / "data")
    paths = [str(tmp_path / "data" / row["image"]) for row in rows]
    model = createml.ObjectDetector.train(tmp_path / "data", **{**DETECTOR, "max_iterations": 240, "batch_size": 4})
    metrics = model.evaluate(tmp_path / "data")
    assert isinstance(metrics, createml.DetectorMetrics) and metrics.skipped == []
    assert metrics.mean_average_precision["iou_50"] > 0.9 and set(metrics.average_precision["iou_50"]) == {"green", "red"}
    assert metrics.mean_average_precision["varied_iou"] < metrics.mean_average_precision["iou_50"]
    assert model.training_metrics.mean_average_precision == pytest.approx(metrics.mean_average_precision, abs=0.05)
    assert not model.validation_metrics.is_valid
    metrics.save_picture(tmp_path / "precision.svg")
    metrics.save_picture(tmp_path / "precision.png")
    found = model.predict(paths)
    assert len(found) == 6 and found[0] == model.predict(paths[0]) == model.predict(numpy.asarray(Image.open(paths[0])))
    assert found == model.predict([Image.open(path) for path in paths])
    hits = 0
    for row, objects in zip(rows, found):
        assert [entry["confidence"] for entry in objects] == sorted((entry["confidence"] for entry in objects), reverse=True)
        hits += sum(
            any(entry["label"] == truth["label"] and overlap(entry["coordinates"], truth["coordinates"]) > 0.5 for entry in objects)
            for truth in row["annotations"])
    # Those found with the confidence that a model asks for by default.
    assert hits >= 10
    # What it finds has the form of annotations.
    again = model.evaluate(pandas.DataFrame({"image": paths, "annotations": found}))
    assert again.mean_average_precision["iou_50"] > 0.9
    table = model.predict(polars.DataFrame({"image": paths}))
    assert table.columns == ["image", "label", "confidence", "x", "y", "width", "height"]
    assert table.filter(polars.col("image") == paths[0])["label"].to_list() == [entry["label"] for entry in found[0]]
    plain = numpy.full((64, 64, 3), 128, dtype=numpy.uint8)
    assert model.predict([plain]) == [[]] or model.predict([plain])[0]
    (tmp_path / "broken.png").write_bytes(b"nothing")
    partly = model.evaluate({"image": [*paths, str(tmp_path / "broken.png")],
                             "annotations": [row["annotations"] for row in rows] + [None]})
    assert [entry["image"] for entry in partly.skipped] == [str(tmp_path / "broken.png")]
    with pytest.raises(createml.TrainingError, match="the label 'blue', which the model does not have"):
        model.evaluate({"image": paths[:1], "annotations": [[{**rows[0]["annotations"][0], "label": "blue"}]]})


@needs_tool
def test_the_command_line_gives_the_same_detector(installed, tmp_path):
    squares(tmp_path / "data")
    subprocess.run(
        [COREML, "train", "object", tmp_path / "data", "--validation-share", "0", "--batch-size", "2", "--iterations", "12", "--json",
         "-o", tmp_path / "c.mlmodel"], check=True, stdout=subprocess.DEVNULL)
    model = createml.ObjectDetector.train(tmp_path / "data", **DETECTOR)
    assert saved(model, tmp_path) == (tmp_path / "c.mlmodel").read_bytes()


def test_an_interrupted_detector_goes_on(installed, tmp_path):
    squares(tmp_path / "data")
    session = {"session": tmp_path / "s", "checkpoint_interval": 1}
    whole = createml.ObjectDetector.train(tmp_path / "data", **DETECTOR)
    with pytest.raises(KeyboardInterrupt):
        createml.ObjectDetector.train(tmp_path / "data", **{**DETECTOR, "progress": interrupted(2)}, **session)
    resumed = createml.ObjectDetector.resume(tmp_path / "s", progress=False)
    assert saved(resumed, tmp_path) == saved(whole, tmp_path) and resumed.classes == ["green", "red"]


def test_wrong_annotations(installed, tmp_path, monkeypatch):
    rows = squares(tmp_path / "data")
    train = lambda data, **options: createml.ObjectDetector.train(data, **{**DETECTOR, **options})
    (tmp_path / "empty").mkdir()
    for data, options, words in [
            (tmp_path / "empty", {}, "holds no annotations"), (tmp_path / "data" / "none.json", {}, "none.json"),
            ({"image": ["a.png"]}, {}, "no column 'annotations'"), (tmp_path / "data", {"units": "miles"}, "pixel, normalized"),
            (tmp_path / "data", {"origin": "top"}, "topLeft, bottomLeft"), (tmp_path / "data", {"anchor": "x"}, "center, topLeft"),
            (tmp_path / "data", {"batch_size": 1000}, "1000"),
            ({"image": [str(tmp_path / "data" / "0.png")], "annotations": ["no JSON"]}, {}, "not JSON")]:
        with pytest.raises(createml.TrainingError, match=words):
            train(data, **options)
    monkeypatch.setenv("COREML_EXTRACTORS", str(tmp_path / "none"))
    with pytest.raises(createml.TrainingError, match="'efficientnet-lite0' is not installed; run: coreml extractor install"):
        train(tmp_path / "data", feature_extractor="efficientnet-lite0")
    assert rows


def test_a_detector_without_pretrained_features_says_so(tmp_path, monkeypatch):
    squares(tmp_path / "data")
    monkeypatch.setenv("COREML_EXTRACTORS", str(tmp_path / "none"))
    options = {**DETECTOR, "max_iterations": 2}
    with pytest.warns(createml.TrainingWarning, match="coreml extractor install"):
        model = createml.ObjectDetector.train(tmp_path / "data", **options)
    assert len(model.warnings) == 1
    asked = createml.ObjectDetector.train(tmp_path / "data", feature_extractor="learned", **options)
    assert "not installed" not in asked.warnings[0]
    plain = createml.ObjectDetector.train(tmp_path / "data", feature_extractor="learned", mirror_images=False, **options)
    assert saved(plain, tmp_path) != saved(asked, tmp_path)
    turned = createml.ObjectDetector.train(tmp_path / "data", feature_extractor="learned", turn_images=True, **options)
    assert saved(turned, tmp_path) != saved(asked, tmp_path)


# Styles


def contents(folder, count=3):
    folder.mkdir(parents=True)
    for number in range(count):
        y, x = numpy.mgrid[:80, :90 + 10 * number]
        disc = (x - 45) ** 2 + (y - 40) ** 2 < 600
        pixels = numpy.where(disc[..., None], [200, 200, 90], numpy.stack([x, 0 * x + 90, 0 * x + 60], axis=-1))
        Image.fromarray(pixels.astype(numpy.uint8)).save(folder / f"{number}.png")
    return folder


def test_styles(tmp_path):
    own, folder = network(tmp_path / "own.mlmodel"), contents(tmp_path / "contents")
    y, x = numpy.mgrid[:80, :96]
    style = numpy.where((((x + y) // 4) % 2 == 0)[..., None], [230, 60, 20], [20, 40, 160]).astype(numpy.uint8)
    Image.fromarray(style).save(tmp_path / "style.png")
    options = {"feature_extractor": own, "algorithm": "cnnLite", "max_iterations": 4, "textel_density": 64}
    reports = []
    model = createml.StyleTransfer.train(tmp_path / "style.png", folder, **options, progress=reports.append)
    assert {"loss", "content_loss", "style_loss"} <= set([report for report in reports if report["metrics"]][-1]["metrics"])
    whole = saved(model, tmp_path)
    from_memory = createml.StyleTransfer.train(
        style, [Image.open(folder / "0.png"), folder / "1.png", numpy.asarray(Image.open(folder / "2.png"))], **options, progress=False)
    assert saved(from_memory, tmp_path) == whole
    drawn = model.stylize(folder / "1.png")
    assert isinstance(drawn, Image.Image) and drawn.size == (100, 80)
    array = model.stylize(numpy.asarray(Image.open(folder / "1.png")))
    assert isinstance(array, numpy.ndarray) and (array == numpy.asarray(drawn)).all()
    assert (numpy.asarray(model.stylize(Image.open(folder / "1.png"))) == array).all()
    with pytest.raises(createml.TrainingError, match="takes 64 × 64 or more"):
        model.stylize(numpy.zeros((32, 32), dtype=numpy.uint8))
    with pytest.raises(createml.TrainingError, match="no metrics"):
        model._evaluated({"image": ["x"]}, {})
    with pytest.raises(KeyboardInterrupt):
        createml.StyleTransfer.train(
            tmp_path / "style.png", folder, **options, session=tmp_path / "s", checkpoint_interval=1, progress=interrupted(1))
    resumed = createml.StyleTransfer.resume(tmp_path / "s", progress=False)
    assert saved(resumed, tmp_path) == whole
    reports.clear()
    createml.StyleTransfer.train(
        tmp_path / "style.png", folder, **options, session=tmp_path / "t", checkpoint_interval=1, progress=reports.append)
    assert any("stylized_image_url" in report["metrics"] for report in reports)


@needs_tool
def test_the_command_line_gives_the_same_style(tmp_path):
    own, folder = network(tmp_path / "own.mlmodel"), contents(tmp_path / "contents")
    subprocess.run(
        [COREML, "train", "style", folder / "0.png", folder, "--extractor", own, "--lite", "--iterations", "3", "--density", "64",
         "--json", "-o", tmp_path / "c.mlmodel"], check=True, stdout=subprocess.DEVNULL)
    model = createml.StyleTransfer.train(
        folder / "0.png", folder, feature_extractor=own, algorithm="cnnLite", max_iterations=3, textel_density=64, progress=False)
    assert saved(model, tmp_path) == (tmp_path / "c.mlmodel").read_bytes()


def test_wrong_styles(tmp_path):
    own, folder = network(tmp_path / "own.mlmodel"), contents(tmp_path / "contents")
    (tmp_path / "empty").mkdir()
    train = lambda style=folder / "0.png", contents=folder, **options: createml.StyleTransfer.train(
        style, contents, **{"feature_extractor": own, "max_iterations": 1, "progress": False, **options})
    for given, words in [
            ({"style": tmp_path / "none.png"}, "none.png cannot be read"), ({"contents": tmp_path / "empty"}, "no readable image"),
            ({"style_strength": 11}, "11"), ({"textel_density": 65}, "65"), ({"medium": "film"}, "image, video"),
            ({"algorithm": "big"}, "cnn, cnnLite"), ({"processing_option": "stretch"}, "centerCrop, scaleFit"),
            ({"feature_extractor": None}, "'efficientnet-lite0' is not installed"), ({"max_iterations": 0}, "0")]:
        with pytest.raises(createml.TrainingError, match=words):
            train(**given)
    with pytest.raises(ValueError, match="a session finds images by their files"):
        train(style=numpy.zeros((80, 80, 3), dtype=numpy.uint8), session=tmp_path / "s")


def test_pillow_is_named_where_it_is_missing(tmp_path):
    own, folder = network(tmp_path / "own.mlmodel"), contents(tmp_path / "contents")
    code = ("import sys, numpy\nfor name in ('PIL', 'PIL.Image'):\n    sys.modules[name] = None\n"
            "from swift_coreml import createml\n"
            f"model = createml.StyleTransfer.train({str(folder / '0.png')!r}, {str(folder)!r}, feature_extractor={str(own)!r},\n"
            "    algorithm='cnnLite', max_iterations=1, textel_density=64, progress=False)\n"
            "assert model.stylize(numpy.zeros((64, 70, 3), dtype=numpy.uint8)).shape == (64, 70, 3)\n"
            f"try:\n    model.stylize({str(folder / '0.png')!r})\n"
            "except ImportError as error:\n    assert 'pip install pillow' in str(error)\nelse:\n    raise SystemExit('no error')\n")
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


def test_pictures_written_here_are_read_by_pillow(tmp_path):
    for shape in ((5, 7), (5, 7, 3), (5, 7, 4)):
        pixels = numpy.random.default_rng(1).integers(0, 256, shape).astype(numpy.uint8)
        (tmp_path / "p.png").write_bytes(_pictures.png(pixels))
        assert (numpy.asarray(Image.open(tmp_path / "p.png")) == pixels).all()


# Poses


def test_poses_of_files(tmp_path):
    """Tables of key points as the files; pictures and videos need networks, which are not installed here."""
    rows = []
    for number in range(8):
        label = "open" if number % 2 else "close"
        angles = numpy.linspace(0, 6, 21)
        x = 0.5 + 0.2 * numpy.cos(angles) * (1 if number % 2 else 0.2) + number / 1000
        y = 0.5 + 0.2 * numpy.sin(2 * angles)
        (tmp_path / "data" / label).mkdir(parents=True, exist_ok=True)
        path = tmp_path / "data" / label / f"{number}.json"
        path.write_text(json.dumps([{"keypoints": [*x, *y, *[1.0] * 21]}]))
        rows.append((os.path.relpath(path, tmp_path), label))
    frame = pandas.DataFrame(rows, columns=["imagePath", "label"])
    frame.to_csv(tmp_path / "poses.csv", index=False)
    options = {"validation": None, "maximum_iterations": 10, "progress": False}
    folder = createml.HandPoseClassifier.train(tmp_path / "data", **options)
    model = createml.HandPoseClassifier.train(tmp_path / "poses.csv", **options)
    assert model.evaluate(tmp_path / "poses.csv").examples == folder.evaluate(tmp_path / "data").examples == 8
    paths = [str(tmp_path / path) for path in frame["imagePath"]]
    answer = model.predict(paths)
    assert answer["session_id"] == paths and answer["label"] == frame["label"].tolist()
    assert model.predict(tmp_path / "poses.csv")["label"] == answer["label"]
    assert model.predict(pandas.DataFrame({"imagePath": paths}))["label"].tolist() == answer["label"]
    Image.fromarray(picture("flat", 1)).save(tmp_path / "hand.png")
    with pytest.raises(createml.TrainingError, match="'mediapipe-hands' is not installed; run: coreml extractor install"):
        model.predict(tmp_path / "hand.png")
    with pytest.raises(createml.TrainingError, match="'mediapipe-body' is not installed"):
        createml.ActionClassifier.train({"videoPath": [str(tmp_path)] * 2, "label": ["a", "b"]}, **options)
