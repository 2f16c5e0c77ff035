"""Small models of every kind that `coreml preview` shows, and files to ask them about.

They compute something that a person can check in a picture: colours, bright spots, sums.  What needs learning is learnt by
`coreml train`.  Nothing here comes from a network that others trained.
"""

import csv
import json
import math
import pathlib
import random
import shutil
import subprocess
import wave

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import types
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder
from coremltools.models.utils import save_spec
from PIL import Image, ImageDraw

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREVIEW_TYPE = "com.apple.coreml.model.preview.type"
PREVIEW_PARAMETERS = "com.apple.coreml.model.preview.parameters"


def describe(spec, text, **userDefined):
    spec.description.metadata.shortDescription = text
    spec.description.metadata.author = "swift-coreml"
    for key, value in userDefined.items():
        spec.description.metadata.userDefined[key] = value


def stated(spec, kind, **parameters):
    spec.description.metadata.userDefined[PREVIEW_TYPE] = kind
    if parameters:
        spec.description.metadata.userDefined[PREVIEW_PARAMETERS] = json.dumps(parameters)


def picture_input(spec, name, width, height, gray=False):
    feature = next(each for each in spec.description.input if each.name == name)
    feature.type.imageType.width = width
    feature.type.imageType.height = height
    feature.type.imageType.colorSpace = 10 if gray else 20
    feature.type.ClearField("multiArrayType")
    # The array that the field held is gone; what is left is the picture.
    feature.type.imageType.width = width


def network(inputs, outputs, mode=None):
    return NeuralNetworkBuilder(
        [(name, datatypes.Array(*shape)) for name, shape in inputs],
        [(name, datatypes.Array(*shape) if shape else None) for name, shape in outputs],
        mode=mode, disable_rank5_shape_mapping=True,
    )


COLOURS = {
    "night": (20, 20, 45), "sky": (70, 120, 215), "sunset": (244, 150, 100), "sun": (255, 244, 214),
    "hills": (70, 58, 120), "leaves": (60, 140, 60), "snow": (245, 248, 250), "sand": (210, 180, 130),
    "roses": (190, 30, 60), "stone": (128, 128, 128),
}


def prototypes():
    """Weights and biases: how near a colour, in 0 … 1, is to each of COLOURS."""
    centres = np.array(list(COLOURS.values()), dtype=np.float32) / 255
    return 2 * centres, -np.sum(centres**2, axis=1)


def classifier(path):
    weights, bias = prototypes()
    builder = NeuralNetworkBuilder(
        [("picture", datatypes.Array(3, 128, 128))], [("sceneProbs", None)], mode="classifier", disable_rank5_shape_mapping=False
    )
    builder.add_convolution("near", 3, len(COLOURS), 1, 1, 1, 1, "valid", 1,
                            (weights / 255).reshape(len(COLOURS), 3, 1, 1).transpose(2, 3, 1, 0) * 14, bias * 14, True, input_name="picture", output_name="near")
    builder.add_softmax("each", "near", "each")
    builder.add_pooling("mean", 1, 1, 1, 1, "AVERAGE", "VALID", "each", "mean", is_global=True)
    builder.add_flatten("flat", 0, "mean", "sceneProbs")
    builder.set_class_labels(list(COLOURS), predicted_feature_name="scene", prediction_blob="sceneProbs")
    spec = builder.spec
    picture_input(spec, "picture", 128, 128)
    describe(spec, "Says which colours of a landscape a picture has most of.")
    spec.description.input[0].shortDescription = "A picture of a landscape"
    save_spec(spec, str(path))


def detector(path):
    """Bright spots, found on a grid of 16 × 16; what overlaps is suppressed by a second model."""
    size, grid = 256, 16
    cell = size // grid
    builder = network([("image", (1, 3, size, size))], [("raw_confidence", (grid * grid, 2)), ("raw_coordinates", (grid * grid, 4))])
    builder.add_reduce_mean("light", "image", "light", axes=[1], keepdims=True, reduce_all=False)
    builder.add_pooling("cells", cell, cell, cell, cell, "AVERAGE", "VALID", "light", "cells")
    builder.add_activation("bright", "LINEAR", "cells", "bright", params=[0.09, -0.09 * 214])
    builder.add_activation("dark", "LINEAR", "cells", "dark", params=[-0.4, 0.4 * 52])
    for name in ("bright", "dark"):
        builder.add_activation(name + "_share", "SIGMOID", name, name + "_share")
        builder.add_reshape_static(name + "_list", name + "_share", name + "_list", (grid * grid, 1))
    builder.add_concat_nd("both", ["bright_list", "dark_list"], "raw_confidence", axis=1)
    boxes = np.array([[(x + 0.5) / grid, (y + 0.5) / grid, 2.4 / grid, 2.4 / grid] for y in range(grid) for x in range(grid)], dtype=np.float32)
    builder.add_load_constant_nd("boxes", "raw_coordinates", boxes, boxes.shape)
    first = builder.spec
    first.specificationVersion = 4
    picture_input(first, "image", size, size)

    suppression = ct.proto.Model_pb2.Model()
    suppression.specificationVersion = 3
    for name, width, optional in (("raw_confidence", 2, False), ("raw_coordinates", 4, False)):
        feature = suppression.description.input.add()
        feature.name = name
        feature.type.multiArrayType.dataType = 65600
        feature.type.multiArrayType.shape.extend([grid * grid, width])
    for name in ("iouThreshold", "confidenceThreshold"):
        feature = suppression.description.input.add()
        feature.name = name
        feature.type.doubleType.SetInParent()
        feature.type.isOptional = True
    for name, width in (("confidence", 2), ("coordinates", 4)):
        feature = suppression.description.output.add()
        feature.name = name
        feature.type.multiArrayType.dataType = 65600
        for least, most in ((0, -1), (width, width)):
            extent = feature.type.multiArrayType.shapeRange.sizeRanges.add()
            extent.lowerBound, extent.upperBound = least, most
    rule = suppression.nonMaximumSuppression
    rule.confidenceInputFeatureName, rule.coordinatesInputFeatureName = "raw_confidence", "raw_coordinates"
    rule.confidenceOutputFeatureName, rule.coordinatesOutputFeatureName = "confidence", "coordinates"
    rule.iouThresholdInputFeatureName, rule.confidenceThresholdInputFeatureName = "iouThreshold", "confidenceThreshold"
    rule.iouThreshold, rule.confidenceThreshold = 0.05, 0.6
    rule.pickTop.perClass = True
    rule.stringClassLabels.vector.extend(["light", "shadow"])

    model = ct.proto.Model_pb2.Model()
    model.specificationVersion = 4
    model.description.input.add().CopyFrom(first.description.input[0])
    for name in ("iouThreshold", "confidenceThreshold"):
        feature = model.description.input.add()
        feature.name = name
        feature.type.doubleType.SetInParent()
        feature.type.isOptional = True
        feature.shortDescription = {"iouThreshold": "How much boxes may overlap", "confidenceThreshold": "From which confidence on"}[name]
    for feature in suppression.description.output:
        model.description.output.add().CopyFrom(feature)
    model.pipeline.models.add().CopyFrom(first)
    model.pipeline.models.add().CopyFrom(suppression)
    describe(model, "Finds the brightest and the darkest spots of a picture.")
    save_spec(model, str(path))


def segmenter(path):
    weights, bias = prototypes()
    builder = network([("image", (1, 3, 160, 160))], [("semanticPredictions", (160, 160))])
    builder.add_convolution("near", 3, len(COLOURS), 1, 1, 1, 1, "valid", 1,
                            (weights / 255).reshape(len(COLOURS), 3, 1, 1).transpose(2, 3, 1, 0), bias, True, input_name="image", output_name="near")
    builder.add_argmax("best", "near", "best", 1, False)
    builder.add_squeeze("plane", "best", "semanticPredictions", axes=[0])
    spec = builder.spec
    picture_input(spec, "image", 160, 160)
    spec.description.output[0].type.multiArrayType.dataType = 131104
    stated(spec, "imageSegmenter", labels=list(COLOURS), colors=["#%02X%02X%02X" % colour for colour in COLOURS.values()])
    describe(spec, "Divides a picture by its colours.")
    save_spec(spec, str(path))


def depth(path):
    height, width = 96, 128
    builder = network([("image", (1, 3, height, width))], [("depth", (1, height, width))])
    builder.add_reduce_mean("light", "image", "light", axes=[1], keepdims=False, reduce_all=False)
    ramp = np.repeat(np.linspace(0, 4, height, dtype=np.float32)[:, None], width, axis=1)[None]
    builder.add_load_constant_nd("ramp", "ramp", ramp, ramp.shape)
    builder.add_activation("scaled", "LINEAR", "light", "scaled", params=[-1 / 90, 3])
    builder.add_add_broadcastable("sum", ["scaled", "ramp"], "depth")
    spec = builder.spec
    picture_input(spec, "image", width, height)
    stated(spec, "depthEstimation")
    describe(spec, "Guesses how near things are: what is low and dark is near.")
    save_spec(spec, str(path))


BODY = [(.50, .16), (.53, .14), (.47, .14), (.57, .16), (.43, .16), (.63, .30), (.37, .30), (.70, .45), (.30, .45), (.66, .59), (.34, .59),
        (.58, .58), (.42, .58), (.60, .76), (.40, .76), (.61, .93), (.39, .93)]


def figure(joint):
    """The positions of the joints of the scene's figure, in fractions of the picture."""
    x, y = BODY[joint]
    return (300 + (x - .5) * 380) / 960, (160 + y * 540) / 720


def pose(path):
    size, grid = 257, 33
    builder = network([("image", (1, 3, size, size))], [("heatmap", (17, grid, grid)), ("offsets", (34, grid, grid))])
    heat = np.full((17, grid, grid), -4, dtype=np.float32)
    ys, xs = np.mgrid[0:grid, 0:grid]
    for joint in range(len(BODY)):
        x, y = figure(joint)
        heat[joint] += 7.5 * np.exp(-((xs - x * (grid - 1)) ** 2 + (ys - y * (grid - 1)) ** 2) / 2)
    builder.add_load_constant_nd("form", "form", heat, heat.shape)
    # A picture that is all dark hides the body.
    builder.add_reduce_mean("light", "image", "light", axes=[0, 1, 2, 3], keepdims=False, reduce_all=True)
    builder.add_activation("doubt", "LINEAR", "light", "doubt", params=[0.002, -0.2])
    builder.add_add_broadcastable("sum", ["form", "doubt"], "heatmap")
    # How far, in pixels, the joint is from the place on the grid: first down, then to the right.
    offsets = np.zeros((34, grid, grid), dtype=np.float32)
    for joint in range(len(BODY)):
        x, y = figure(joint)
        offsets[joint], offsets[17 + joint] = y * (size - 1) - ys * 8, x * (size - 1) - xs * 8
    builder.add_load_constant_nd("offsets", "offsets", offsets, offsets.shape)
    spec = builder.spec
    picture_input(spec, "image", size, size)
    stated(spec, "poseEstimation", width_multiplier=1.0, output_stride=8)
    describe(spec, "Shows how the 17 points of a body are drawn.")
    save_spec(spec, str(path))


def style(path):
    size = 256
    builder = network([("image", (1, 3, size, size))], [("stylized", (1, 3, size, size))])
    sepia = np.array([[.393, .769, .189], [.349, .686, .168], [.272, .534, .131]], dtype=np.float32)
    edge = np.zeros((3, 3, 3, 3), dtype=np.float32)
    for target in range(3):
        for source in range(3):
            edge[:, :, source, target] = sepia[target, source] * np.array([[-1, -1, 0], [-1, 1, 1], [0, 1, 1]])
    builder.add_convolution("relief", 3, 3, 3, 3, 1, 1, "same", 1, edge, np.full(3, 24, np.float32), True, input_name="image", output_name="relief")
    builder.add_clip("limit", "relief", "stylized", 0.0, 255.0)
    spec = builder.spec
    picture_input(spec, "image", size, size)
    output = spec.description.output[0]
    output.type.ClearField("multiArrayType")
    output.type.imageType.width = output.type.imageType.height = size
    output.type.imageType.colorSpace = 20
    describe(spec, "Makes a relief in sepia of any picture.")
    save_spec(spec, str(path))


def arrays(path):
    rng = np.random.default_rng(5)
    builder = network([("signal", (64,)), ("gain", (1,))], [("spectrum", (33,)), ("outer", (64, 64)), ("energy", (1,))])
    places = np.arange(64)
    cosine = np.array([np.cos(2 * np.pi * k * places / 64) for k in range(33)], dtype=np.float32)
    sine = np.array([np.sin(2 * np.pi * k * places / 64) for k in range(33)], dtype=np.float32)
    builder.add_multiply_broadcastable("louder", ["signal", "gain"], "louder")
    builder.add_expand_dims("row", "louder", "row", [0])
    for name, matrix in (("real", cosine), ("imaginary", sine)):
        builder.add_batched_mat_mul(name, ["row"], name, weight_matrix_rows=64, weight_matrix_columns=33, W=matrix.T.copy())
        builder.add_multiply_broadcastable(name + "2", [name, name], name + "2")
    builder.add_add_broadcastable("power", ["real2", "imaginary2"], "power")
    builder.add_squeeze("flat", "power", "spectrum2", axes=[0])
    builder.add_unary("root", "spectrum2", "spectrum", "sqrt")
    builder.add_expand_dims("column", "louder", "column", [1])
    builder.add_multiply_broadcastable("outer", ["column", "row"], "outer")
    builder.add_multiply_broadcastable("squares", ["louder", "louder"], "squares")
    builder.add_reduce_sum("energy", "squares", "energy", axes=[0], keepdims=True, reduce_all=False)
    spec = builder.spec
    describe(spec, "The spectrum, the outer product and the energy of a signal.")
    spec.description.input[0].shortDescription = "64 samples"
    spec.description.input[1].shortDescription = "By how much it is louder"
    save_spec(spec, str(path))


def digits_array(path):
    """A plane of 28 × 28 as an array: a page that takes drawings for it."""
    builder = network([("plane", (1, 28, 28))], [("rows", (28,)), ("columns", (28,))])
    builder.add_reduce_mean("rows", "plane", "rows2", axes=[0, 2], keepdims=False, reduce_all=False)
    builder.add_reduce_mean("columns", "plane", "columns2", axes=[0, 1], keepdims=False, reduce_all=False)
    builder.add_copy("a", "rows2", "rows")
    builder.add_copy("b", "columns2", "columns")
    describe(builder.spec, "How much ink each row and each column of a drawing has.")
    save_spec(builder.spec, str(path))


def accumulator(path):
    @mb.program(input_specs=[mb.TensorSpec((4,), dtype=types.fp16), mb.StateTensorSpec((4,), dtype=types.fp16)], opset_version=ct.target.iOS18)
    def program(step, sum):
        before = mb.read_state(input=sum)
        after = mb.add(x=before, y=step)
        kept = mb.coreml_update_state(state=sum, value=after)
        return mb.identity(x=kept, name="total")

    model = ct.convert(program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS18, skip_model_load=True)
    model.short_description = "Adds up what it is given, step by step."
    model.save(str(path))


WORDS = """[PAD] [UNK] [CLS] [SEP] the a of in and was is by who what where when which tower bridge river city museum built
finished opened painted wrote discovered it he she its stands near old first great iron stone garden library station
engineer painter writer gustave eiffel paris london rome anna maria lake mountain 1889 1889 1894 in on at for every year
visitors come to see , . ? ! ' - million two three seven people children night day""".split()


def question(path, vocabulary):
    """Tokens behind those that the question names are likely answers: enough to see how answers are found and marked."""
    length = 128
    words = list(dict.fromkeys(WORDS)) + [chr(97 + index) for index in range(26)] + ["##" + chr(97 + index) for index in range(26)] + [str(index) for index in range(10)] + ["##" + str(index) for index in range(10)]
    words = list(dict.fromkeys(words))
    vocabulary.write_text("\n".join(words) + "\n")
    plain = np.ones(len(words), dtype=np.float32)
    for index, word in enumerate(words):
        if word in ("the", "a", "of", "in", "and", "was", "is", "by", "who", "what", "where", "when", "which", ",", ".", "?", "!", "[PAD]", "[CLS]", "[SEP]", "it", "on", "at", "to", "near", "for"):
            plain[index] = 0

    @mb.program(input_specs=[mb.TensorSpec((1, length), dtype=types.int32), mb.TensorSpec((1, length), dtype=types.int32)], opset_version=ct.target.iOS15)
    def program(wordIDs, wordTypes):
        ids = mb.squeeze(x=wordIDs, axes=[0])
        kind = mb.cast(x=mb.squeeze(x=wordTypes, axes=[0]), dtype="fp32")
        weight = mb.gather(x=plain, indices=ids, axis=0)
        same = mb.cast(x=mb.equal(x=mb.expand_dims(x=ids, axes=[1]), y=mb.expand_dims(x=ids, axes=[0])), dtype="fp32")
        asked = mb.mul(x=weight, y=mb.sub(x=np.float32(1), y=kind))
        hits = mb.reduce_max(x=mb.mul(x=same, y=mb.expand_dims(x=asked, axes=[0])), axes=[1], keep_dims=False)
        hits = mb.mul(x=hits, y=kind)
        row = mb.reshape(x=hits, shape=[1, 1, length])

        def scores(*behind):
            """What stands so many tokens behind a word of the question, but is none itself, and no mark."""
            near = np.zeros((1, 1, 11), dtype=np.float32)
            for distance, share in enumerate(behind, 1):
                near[0, 0, 5 - distance] = share
            found = mb.reshape(x=mb.conv(x=row, weight=near, pad=[5, 5], pad_type="custom"), shape=[length])
            counted = mb.mul(x=weight, y=kind)
            score = mb.mul(x=mb.sub(x=mb.mul(x=found, y=np.float32(8)), y=mb.mul(x=hits, y=np.float32(20))), y=counted)
            return mb.reshape(x=mb.add(x=score, y=mb.mul(x=mb.sub(x=counted, y=np.float32(1)), y=np.float32(20))), shape=[1, length])

        start = mb.identity(x=scores(1, .7, .6, .5), name="startLogits")
        end = mb.identity(x=scores(.5, 1, .7, .6), name="endLogits")
        return start, end

    model = ct.convert(program, convert_to="mlprogram", skip_model_load=True, compute_precision=ct.precision.FLOAT32)
    model.short_description = "Finds where in a text the words of a question stand, and what is near them."
    model.user_defined_metadata[PREVIEW_TYPE] = "bertQA"
    model.save(str(path))


TALE = """The old tower stands near the river. The river runs to the sea, and the sea is wide and grey. Every morning the
keeper of the tower lights a lamp, and every evening the keeper puts out the lamp and looks at the sea. The ships that pass
the tower see the lamp and know the way to the harbour. One winter the lamp did not burn, and the ships did not know the way.
The keeper was ill, and the tower was dark. Then a child of the harbour climbed the old tower and lit the lamp, and the ships
came home. Every winter the child and the keeper light the lamp of the old tower, and the ships know the way home."""


def byte_pairs(text, count):
    """Tokens and the pairs that they are joined from, as GPT-2's files have them: the pair that comes most often first."""
    words = ["".join("Ġ" if letter == " " else letter for letter in word) for word in
             [(" " if index else "") + part for index, part in enumerate(text.replace("\n", " ").replace(",", " ,").replace(".", " .").split())]]
    parts = [list(word.replace("Ġ,", ",").replace("Ġ.", ".")) for word in words]
    tokens, merges = sorted({letter for word in parts for letter in word}), []
    while len(tokens) < count:
        pairs = {}
        for word in parts:
            for pair in zip(word, word[1:]):
                pairs[pair] = pairs.get(pair, 0) + 1
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        tokens.append("".join(best))
        for word in parts:
            place = 0
            while place + 1 < len(word):
                if (word[place], word[place + 1]) == best:
                    word[place : place + 2] = ["".join(best)]
                place += 1
    return tokens, merges, [token for word in parts for token in word]


def generator(path, folder):
    """Goes on with a text as its words follow one another in a tale."""
    tokens, merges, tale = byte_pairs(TALE, 400)
    folder.mkdir(exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "\n".join(" ".join(pair) for pair in merges) + "\n")
    scores = np.full((len(tokens), len(tokens)), -6, dtype=np.float32)
    for first, second in zip(tale, tale[1:]):
        scores[tokens.index(first), tokens.index(second)] = np.log(np.exp(scores[tokens.index(first), tokens.index(second)]) + 1)

    @mb.program(input_specs=[mb.TensorSpec((1, 64), dtype=types.int32)], opset_version=ct.target.iOS15)
    def program(input_ids):
        return mb.gather(x=scores, indices=input_ids, axis=0, name="logits")

    model = ct.convert(program, convert_to="mlprogram", skip_model_load=True, compute_precision=ct.precision.FLOAT32)
    model.short_description = "Goes on with a text as its words follow one another in a tale of a tower."
    model.save(str(path))


def stickers(path):
    """An empty classifier of neighbours behind the features of small drawings."""
    extractor = NeuralNetworkBuilder([("drawing", datatypes.Array(1, 28, 28))], [("features", None)], disable_rank5_shape_mapping=False)
    filters = np.zeros((5, 5, 1, 8), dtype=np.float32)
    ys, xs = np.mgrid[-2:3, -2:3]
    for index in range(8):
        angle = index * math.pi / 8
        filters[:, :, 0, index] = np.cos(1.4 * (xs * math.cos(angle) + ys * math.sin(angle))) * np.exp(-(xs**2 + ys**2) / 4)
    filters -= filters.mean(axis=(0, 1), keepdims=True)
    extractor.add_convolution("strokes", 1, 8, 5, 5, 1, 1, "same", 1, filters / 255, None, False, input_name="drawing", output_name="strokes")
    extractor.add_activation("positive", "RELU", "strokes", "positive")
    extractor.add_pooling("coarse", 7, 7, 7, 7, "MAX", "VALID", "positive", "coarse")
    extractor.add_flatten("flat", 0, "coarse", "features")
    picture_input(extractor.spec, "drawing", 28, 28, gray=True)
    extractor.spec.description.output[0].type.multiArrayType.shape[:] = [128]
    extractor.spec.description.output[0].type.multiArrayType.dataType = 65568

    from coremltools.models.nearest_neighbors import KNearestNeighborsClassifierBuilder
    neighbors = KNearestNeighborsClassifierBuilder(
        input_name="features", output_name="sticker", number_of_dimensions=128, default_class_label="unknown", number_of_neighbors=3,
        weighting_scheme="inverse_distance", index_type="linear"
    )
    knn = neighbors.spec
    model = ct.proto.Model_pb2.Model()
    model.specificationVersion = 4
    model.isUpdatable = True
    model.description.input.add().CopyFrom(extractor.spec.description.input[0])
    for output in knn.description.output:
        model.description.output.add().CopyFrom(output)
    model.description.predictedFeatureName = knn.description.predictedFeatureName
    model.description.predictedProbabilitiesName = knn.description.predictedProbabilitiesName
    model.description.trainingInput.add().CopyFrom(extractor.spec.description.input[0])
    target = model.description.trainingInput.add()
    target.name = "sticker"
    target.type.stringType.SetInParent()
    model.pipelineClassifier.pipeline.models.add().CopyFrom(extractor.spec)
    model.pipelineClassifier.pipeline.models.add().CopyFrom(knn)
    model.pipelineClassifier.pipeline.names.extend(["strokes", "stickers"])
    describe(model, "Learns stickers: three drawings of each are enough to recognise the fourth.")
    save_spec(model, str(path))


# Models that `coreml train` trains.

def write_table(path, header, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def houses(folder, train):
    random.seed(3)
    rows = []
    for _ in range(600):
        rooms, area, distance = random.randint(1, 7), random.randint(35, 220), round(random.uniform(0.3, 25), 1)
        place = random.choice(["centre", "suburb", "village"])
        price = 60 + area * 2.4 + rooms * 9 - distance * 3.1 + {"centre": 120, "suburb": 40, "village": 0}[place]
        rows.append([rooms, area, distance, place, round(price + random.gauss(0, 6), 1), "dear" if price > 380 else "fair" if price > 230 else "cheap"])
    write_table(folder / "houses.csv", ["rooms", "area", "distance", "place", "price"], [row[:5] for row in rows])
    write_table(folder / "classes.csv", ["rooms", "area", "distance", "place", "class"], [row[:4] + row[5:] for row in rows])
    write_table(folder / "ask-houses.csv", ["rooms", "area", "distance", "place"], [row[:4] for row in rows[:40]])
    train("tabular", folder / "houses.csv", "--target", "price", "--algorithm", "boosted-tree", "-o", folder / "Regressor.mlmodel")
    train("tabular", folder / "classes.csv", "--target", "class", "--algorithm", "random-forest", "-o", folder / "TabularClassifier.mlmodel")


def texts(folder, train):
    random.seed(4)
    good, bad = ["lovely", "great", "wonderful", "delightful", "excellent", "charming"], ["awful", "boring", "terrible", "dull", "bad", "dreadful"]
    things = ["film", "book", "dinner", "concert", "walk", "hotel", "garden", "play"]
    rows = []
    for _ in range(240):
        label = random.choice(["positive", "negative"])
        word = random.choice(good if label == "positive" else bad)
        rows.append([random.choice([f"The {random.choice(things)} was {word}", f"What a {word} {random.choice(things)}", f"I found the {random.choice(things)} {word} and {random.choice(good if label == 'positive' else bad)}"]), label])
    write_table(folder / "texts.csv", ["text", "label"], rows)
    train("text", folder / "texts.csv", "-o", folder / "TextClassifier.mlmodel")
    people, places = ["Ann", "Ben", "Carla", "Dmitri", "Eva", "Farid"], ["Rome", "Paris", "Oslo", "Kyoto", "Lima", "Cairo"]
    sentences = []
    for _ in range(300):
        a, b, place, other = random.choice(people), random.choice(people), random.choice(places), random.choice(places)
        words, tags = random.choice([
            ([a, "lives", "in", place], ["PERSON", "NONE", "NONE", "PLACE"]),
            ([a, "and", b, "went", "from", place, "to", other], ["PERSON", "NONE", "PERSON", "NONE", "NONE", "PLACE", "NONE", "PLACE"]),
            (["In", place, a, "met", b], ["NONE", "PLACE", "PERSON", "NONE", "PERSON"]),
            (["The", "train", "to", place, "is", "late"], ["NONE", "NONE", "NONE", "PLACE", "NONE", "NONE"]),
        ])
        sentences.append({"tokens": words, "labels": tags})
    (folder / "tags.json").write_text(json.dumps(sentences))
    train("text", folder / "tags.json", "--kind", "tagger", "-o", folder / "WordTagger.mlmodel")


def sounds(folder, train):
    rng = np.random.default_rng(6)
    rate = 16000

    def write(path, samples):
        path.parent.mkdir(parents=True, exist_ok=True)
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())

    def tone(seconds):
        time = np.arange(int(rate * seconds)) / rate
        return 0.4 * np.sin(2 * np.pi * rng.uniform(300, 900) * time)

    def noise(seconds):
        return 0.2 * rng.standard_normal(int(rate * seconds))

    def clicks(seconds):
        samples = np.zeros(int(rate * seconds))
        for start in range(0, len(samples), rng.integers(1200, 2600)):
            samples[start : start + 60] = rng.uniform(0.4, 0.8)
        return samples + 0.003 * rng.standard_normal(len(samples))

    makers = {"tone": tone, "noise": noise, "clicks": clicks}
    for label, make in makers.items():
        for index in range(14):
            write(folder / "sounds" / label / f"{index}.wav", make(2))
    write(folder / "ask-sound.wav", np.concatenate([tone(3), noise(2), clicks(3), tone(1.5)]))
    train("sound", folder / "sounds", "-o", folder / "SoundClassifier.mlmodel")


def activities(folder, train):
    rng = np.random.default_rng(7)

    def rows(label, recording, count):
        time = np.arange(count)
        if label == "rest":
            signal = rng.normal(0, .03, (count, 3))
        else:
            pace = .25 if label == "walk" else .6
            signal = np.stack([np.sin(pace * time), np.cos(pace * time), .5 * np.sin(2 * pace * time)], 1) * (1 if label == "walk" else 2.2) + rng.normal(0, .15, (count, 3))
        return [[*(f"{value:.4f}" for value in each), label, recording] for each in signal]

    table = []
    for label in ("rest", "walk", "run"):
        for number in range(8):
            table += rows(label, f"{label}{number}", 300)
    write_table(folder / "activities.csv", ["x", "y", "z", "label", "recording"], table)
    asked = [row[:3] for label, count in (("rest", 250), ("walk", 400), ("run", 300), ("walk", 200)) for row in rows(label, "", count)]
    write_table(folder / "ask-recording.csv", ["x", "y", "z"], asked)
    train("activity", folder / "activities.csv", "-o", folder / "ActivityClassifier.mlmodel")


def recommender(folder, train):
    random.seed(8)
    groups = [["Solaris", "Stalker", "Arrival", "Moon", "Contact"], ["Amélie", "Paterson", "Columbus", "Lost in Translation"], ["Alien", "The Thing", "Predator", "Annihilation", "Arrival"]]
    rows = []
    for user in range(160):
        group = random.choice(groups)
        for film in random.sample(group, random.randint(2, len(group))):
            rows.append([f"u{user}", film])
    write_table(folder / "films.csv", ["user", "item"], rows)
    train("recommender", folder / "films.csv", "-o", folder / "Recommender.mlmodel")


def scene(path):
    """A landscape with a figure, for the models of pictures."""
    width, height = 960, 720
    rows = np.linspace(0, 1, height)[:, None, None]
    sky = np.array([59, 111, 212]) * (1 - rows) + np.array([246, 150, 100]) * rows
    picture = Image.fromarray(np.repeat(sky, width, axis=1).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    draw.ellipse((620, 190, 760, 330), fill=(255, 244, 214))
    for base, size, colour, step in ((470, 170, (84, 71, 140), 150), (560, 120, (58, 51, 96), 110), (650, 70, (36, 31, 61), 80)):
        points = [(x, base - size * abs(math.sin(x / step + base))) for x in range(0, width + 1, 6)]
        draw.polygon(points + [(width, height), (0, height)], fill=colour)
    at = lambda joint: (figure(joint)[0] * width, figure(joint)[1] * height)
    coat, skin = (190, 30, 60), (232, 190, 160)
    for left, right in ((5, 7), (7, 9), (6, 8), (8, 10)):
        draw.line([at(left), at(right)], fill=coat, width=30)
    draw.polygon([at(5), at(6), at(12), at(11)], fill=coat)
    for left, right in ((11, 13), (13, 15), (12, 14), (14, 16)):
        draw.line([at(left), at(right)], fill=(60, 60, 80), width=34)
    x, y = at(0)
    draw.ellipse((x - 42, y - 48, x + 42, y + 48), fill=skin)
    picture.save(path, quality=92)


def make(folder, tool):
    """Makes everything that is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)

    def train(*arguments):
        subprocess.run([tool, "train", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)

    fixed = {
        "Classifier.mlmodel": classifier, "Detector.mlmodel": detector, "Segmenter.mlmodel": segmenter, "Depth.mlmodel": depth,
        "Pose.mlmodel": pose, "Style.mlmodel": style, "Arrays.mlmodel": arrays, "Ink.mlmodel": digits_array,
        "Accumulator.mlpackage": accumulator, "Stickers.mlmodel": stickers,
    }
    for name, maker in fixed.items():
        if not (folder / name).exists():
            maker(folder / name)
    if not (folder / "Answers.mlpackage").exists():
        question(folder / "Answers.mlpackage", folder / "vocabulary.txt")
    if not (folder / "Generator.mlpackage").exists():
        generator(folder / "Generator.mlpackage", folder / "tale")
    learnt = {
        "Regressor.mlmodel": houses, "TextClassifier.mlmodel": texts, "SoundClassifier.mlmodel": sounds,
        "ActivityClassifier.mlmodel": activities, "Recommender.mlmodel": recommender,
    }
    for name, maker in learnt.items():
        if not (folder / name).exists():
            maker(folder, train)
    if not (folder / "Digits.mlmodel").exists():
        shutil.copy(ROOT / "Tests/Fixtures/digits/Digits.mlmodel", folder / "Digits.mlmodel")
    if not (folder / "scene.jpg").exists():
        scene(folder / "scene.jpg")


if __name__ == "__main__":
    import sys

    make(pathlib.Path(sys.argv[1]), sys.argv[2])
