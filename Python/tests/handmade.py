"""Small models written by hand in the model format's protobuf, so that tests need nothing that makes models.

Field numbers are those of `proto/*.proto`; a message is a list of pairs of number and value.
"""
import struct

INT64, DOUBLE, STRING = (1, []), (2, []), (3, [])
FLOAT32, FLOAT64, FLOAT16, INT32, INT8 = 65568, 65600, 65552, 131104, 131080
GREY, RGB = 10, 20


def _varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while True:
        out.append((value & 127) | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(out)


def message(fields):
    """The bytes of a message: integers are varints, floats doubles, NumPy's float32 floats, lists messages, bytes as they are."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, (bool, int)):
            out += _varint(number << 3) + _varint(int(value))
        elif type(value).__name__ == "float32":
            out += _varint(number << 3 | 5) + struct.pack("<f", value)
        elif isinstance(value, float):
            out += _varint(number << 3 | 1) + struct.pack("<d", value)
        else:
            data = value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else message(value)
            out += _varint(number << 3 | 2) + _varint(len(data)) + data
    return bytes(out)


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


def doubles(values):
    return struct.pack(f"<{len(values)}d", *values)


def array(shape, data_type=FLOAT32, ranges=None):
    fields = [(1, b"".join(_varint(extent) for extent in shape)), (2, data_type)]
    if ranges:
        fields.append((31, [(1, [(1, low), (2, high)]) for low, high in ranges]))
    return 5, fields


def image(width, height, color):
    return 4, [(1, width), (2, height), (3, color)]


def dictionary(key):
    return 6, [(1 if key == "Int64" else 2, [])]


def sequence(element):
    return 7, [(1 if element == "Int64" else 3, []), (101, [(1, 0), (2, -1)])]


def feature(name, kind, optional=False):
    return [(1, name), (2, "about " + name), (3, [kind] + ([(1000, 1)] if optional else []))]


def model(path, inputs, outputs, kind, *, version=4, predicted=None, probabilities=None, training=(), updatable=False):
    """Writes a model; `kind` is the field and the content of the model itself."""
    description = [(1, feature(*each)) for each in inputs] + [(10, feature(*each)) for each in outputs]
    description += [(11, predicted)] if predicted else []
    description += [(12, probabilities)] if probabilities else []
    description += [(50, feature(*each)) for each in training]
    description.append((100, [
        (1, "Made by hand"), (2, "1.2"), (3, "A. Author"), (4, "CC0"), (100, [(1, "key"), (2, "value")])]))
    path.write_bytes(message([(1, version), (2, description)] + ([(10, 1)] if updatable else []) + [kind]))
    return path


def identity(path):
    """Gives back a value of every type."""
    features = [
        ("integer", INT64), ("number", DOUBLE), ("text", STRING), ("array", array([2, 3], FLOAT32)),
        ("picture", image(5, 4, RGB)), ("grey", image(5, 4, GREY)), ("names", dictionary("String")),
        ("numbers", dictionary("Int64")), ("words", sequence("String")), ("steps", sequence("Int64"))]
    return model(path, [(name, kind, True) for name, kind in features], features, (900, []))


def linear(path, weights, bias, *, learns=False, ranges=None):
    """y = weights · x + bias, one layer; with `learns` it can be updated by the mean squared error."""
    rows, columns = len(weights), len(weights[0])
    flat = [value for row in weights for value in row]
    mark = [(50, 1)] if learns else []
    layer = [(1, "dense"), (2, "x"), (3, "y")] + ([(10, 1)] if learns else []) + [(140, [
        (1, columns), (2, rows), (10, 1), (20, [(1, floats(flat))] + mark), (21, [(1, floats(bias))] + mark)])]
    network = [(1, layer), (5, 1)] if ranges else [(1, layer)]
    if learns:
        rate = [(1, 0.1), (10, [(1, 0.0), (2, 1.0)])]
        size = [(1, 2), (10, [(1, 1), (2, 100)])]
        network.append((10, [
            (1, [(1, "loss"), (11, [(1, "y"), (2, "y_true")])]),
            (2, [(10, [(1, rate), (2, size), (3, [(1, 0.0), (10, [(1, 0.0), (2, 1.0)])])])]),
            (3, [(1, 5), (10, [(1, 1), (2, 1000)])]), (10, [(1, 0)]), (20, [(1, 1)])]))
    training = [("x", array([columns])), ("y_true", array([rows]))] if learns else ()
    shape = array([1, columns], ranges=ranges) if ranges else array([columns])
    return model(
        path, [("x", shape)], [("y", array([1, rows]) if ranges else array([rows]))], (500, network),
        training=training, updatable=learns)


def _nodes(trees):
    """Trees as nested tuples (feature, threshold, yes, no) with leaves that are lists of numbers."""
    nodes = []

    def add(tree, tree_id, place):
        number = place[0]
        place[0] += 1
        if isinstance(tree, list):
            info = [(20, [(1, index), (2, float(value))]) for index, value in enumerate(tree)]
            nodes.append([(1, tree_id), (2, number), (3, 6)] + info)
            return number
        index, threshold, yes, no = tree
        node = [(1, tree_id), (2, number), (3, 0), (10, index), (11, float(threshold))]
        nodes.append(node)
        node.append((12, add(yes, tree_id, place)))
        node.append((13, add(no, tree_id, place)))
        return number

    for tree_id, tree in enumerate(trees):
        add(tree, tree_id, [0])
    return [(1, node) for node in nodes]


def tree_regressor(path, trees, names, base=0.0):
    """The sum of trees over numbers."""
    ensemble = _nodes(trees) + [(2, 1), (3, doubles([base]))]
    return model(
        path, [(name, DOUBLE) for name in names], [("value", DOUBLE)], (302, [(1, ensemble)]), predicted="value")


def tree_classifier(path, trees, names, labels):
    """The softmax of sums of trees."""
    ensemble = _nodes(trees) + [(2, len(labels)), (3, doubles([0.0] * len(labels)))]
    return model(
        path, [(name, DOUBLE) for name in names], [("kind", STRING), ("probability", dictionary("String"))],
        (402, [(1, ensemble), (2, 1), (100, [(1, label) for label in labels])]),
        predicted="kind", probabilities="probability")
