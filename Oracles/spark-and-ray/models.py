"""The models and tables of this check, made by hand and the same every time."""
import io
import pathlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Python" / "tests"))
import handmade

NAMES = [f"c{number}" for number in range(12)]
LABELS = [f"class {number}" for number in range(100)]


def boosted_trees(path, count=100, depth=6):
    """A regressor of `count` full trees over twelve numbers."""
    generator = np.random.default_rng(1)

    def tree(level):
        if level == depth:
            return [float(generator.normal())]
        return int(generator.integers(len(NAMES))), float(generator.normal()), tree(level + 1), tree(level + 1)
    return handmade.tree_regressor(path, [tree(0) for _ in range(count)], NAMES)


def mobile_network(path, side=224):
    """A classifier of pictures like MobileNet: a convolution, thirteen separable ones, an average, a product."""
    generator = np.random.default_rng(2)
    layers, last, channels = [], "picture", 3

    def convolve(name, outputs, kernel, stride, groups):
        nonlocal last, channels
        weights = generator.normal(size=(outputs, channels // groups, kernel, kernel)) * np.sqrt(
            2 * groups / (channels * kernel * kernel))
        layers.append([(1, name), (2, last), (3, name), (100, [
            (1, outputs), (2, channels // groups), (10, groups), (20, bytes([kernel, kernel])), (30, bytes([stride, stride])),
            (40, bytes([1, 1])), (51, []), (90, [(1, weights.astype("<f4").tobytes())])])])
        layers.append([(1, name + "_relu"), (2, name), (3, name + "_relu"), (130, [(10, [])])])
        last, channels = name + "_relu", outputs

    convolve("first", 32, 3, 2, 1)
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]
    for number, (outputs, stride) in enumerate(plan):
        convolve(f"depth{number}", channels, 3, stride, channels)
        convolve(f"point{number}", outputs, 1, 1, 1)
    layers.append([(1, "pool"), (2, last), (3, "pool"), (120, [(1, 1), (60, 1), (30, [])])])
    weights = generator.normal(size=(len(LABELS), channels)) / np.sqrt(channels)
    layers.append([(1, "dense"), (2, "pool"), (3, "dense"), (140, [
        (1, channels), (2, len(LABELS)), (20, [(1, weights.astype("<f4").tobytes())])])])
    layers.append([(1, "softmax"), (2, "dense"), (3, "scores"), (175, [])])
    scaler = [(1, "picture"), (10, [(10, np.float32(1 / 127.5)), (20, np.float32(-1)), (21, np.float32(-1)),
                                    (22, np.float32(-1))])]
    network = [(1, layer) for layer in layers] + [(2, scaler), (100, [(1, label) for label in LABELS]), (200, "scores")]
    return handmade.model(
        path, [("picture", handmade.image(side, side, handmade.RGB))],
        [("label", handmade.STRING), ("scores", handmade.dictionary("String"))], (403, network),
        predicted="label", probabilities="scores")


def rows(folder, count, files=16):
    """Numbers, some of them missing, in files of Parquet."""
    generator = np.random.default_rng(3)
    columns = {"id": np.arange(count)}
    for name in NAMES:
        values = generator.normal(size=count)
        columns[name] = pa.array(values, mask=generator.random(count) < 0.02)
    return _written(pa.table(columns), folder, files)


def pictures(folder, count, files=16):
    """Pictures as JPEG, of which each fiftieth is damaged and each seventieth missing, in files of Parquet."""
    from PIL import Image
    generator = np.random.default_rng(4)
    data = []
    for number in range(count):
        coarse = generator.integers(0, 255, (9, 9, 3), dtype=np.uint8)
        file = io.BytesIO()
        Image.fromarray(coarse).resize((256, 224), Image.BICUBIC).save(file, "JPEG", quality=85)
        whole = file.getvalue()
        data.append(None if number % 70 == 3 else whole[:150] if number % 50 == 7 else whole)
    return _written(pa.table({"id": np.arange(count), "picture": pa.array(data, pa.binary())}), folder, files)


def houses(count):
    """Houses with sizes and towns, some of them missing, and what they cost: a price, whether it is high, its quarter."""
    generator = np.random.default_rng(6)
    size, rooms = generator.uniform(20, 200, count), generator.integers(1, 9, count)
    towns = np.array(["Oslo", "Rome", "Wien"])[generator.integers(0, 3, count)]
    price = 3 * size + 20 * rooms + 100 * (towns == "Rome")
    return pa.table({
        "size": pa.array(size, mask=generator.random(count) < 0.01), "rooms": rooms,
        "town": pa.array(towns, mask=generator.random(count) < 0.01), "price": price,
        "dear": pa.array(np.where(price > np.median(price), "yes", "no")),
        "quarter": np.searchsorted(np.quantile(price, [0.25, 0.5, 0.75]), price)})


def _written(table, folder, files):
    folder.mkdir()
    size = -(-table.num_rows // files)
    for number in range(files):
        part = table.slice(number * size, size)
        if part.num_rows:
            pq.write_table(part, folder / f"part-{number:03}.parquet")
    return table
