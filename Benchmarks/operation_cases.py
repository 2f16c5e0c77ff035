"""The operations that operations.py measures: for each a program of that one operation, its inputs, and its peer.

A case's program is written with coremltools' builder, its peer with NumPy or, where NumPy has no equivalent, with
PyTorch.  Both take the same arrays and give results of the same type and shape.  What a model cannot take or give
(booleans, small integers) is cast on both sides.
"""
import numpy as np
import torch
from coremltools.converters.mil import Builder as mb

F = torch.nn.functional
CASES = []


class Case:
    """`program(mb values…)` against `peer(arrays…)`; `side` is "numpy" or "torch".

    With the side "fp16" the peer is a program too: the same with half-precision weights, also run by us.
    """

    def __init__(self, name, inputs, program, peer, side, loose=False):
        self.name, self.inputs, self.program, self.peer, self.side = name, inputs, program, peer, side
        self.loose = loose          # results are random or in another order: only shapes are compared

    def prepared(self):
        """The peer as a call without arguments, on arrays of its own kind."""
        if self.side == "numpy":
            return lambda: self.peer(*self.inputs)
        tensors = [torch.from_numpy(array) for array in self.inputs]
        return lambda: self.peer(*tensors)


def numpy(name, inputs, program, peer, loose=False):
    CASES.append(Case(name, inputs, program, peer, "numpy", loose))


def torched(name, inputs, program, peer, loose=False):
    CASES.append(Case(name, inputs, program, peer, "torch", loose))


random = np.random.default_rng(20240601)


def floats(*shape, low=-2.0, high=2.0):
    return random.uniform(low, high, shape).astype(np.float32)


def ints(*shape, low=-100, high=100):
    return random.integers(low, high, shape).astype(np.int32)


SQUARE = (1000, 1000)
CUBE = (64, 128, 128)
IMAGE = (1, 64, 128, 128)
x, y = floats(*SQUARE), floats(*SQUARE)
positive = floats(*SQUARE, low=0.1, high=2.0)
unit = floats(*SQUARE, low=-0.99, high=0.99)
above_one = floats(*SQUARE, low=1.01, high=5.0)
i, j = ints(*SQUARE), ints(*SQUARE)
nonzero = np.where(j == 0, 1, j).astype(np.int32)
cube, image = floats(*CUBE), floats(*IMAGE)
TYPES = {"fp32": np.float32, "int32": np.int32, "fp16": np.float16, "bool": bool, "int8": np.int8, "uint8": np.uint8,
         "int16": np.int16, "uint16": np.uint16}


def cast(value, name):
    return mb.cast(x=value, dtype=name)


# Elementwise functions of one number
def unary(name, peer, given=x, side=numpy, **attributes):
    side(name, [given], lambda x: getattr(mb, name)(x=x, **attributes), peer)


unary("abs", np.abs)
unary("acos", np.arccos, unit)
unary("acosh", np.arccosh, above_one) if hasattr(mb, "acosh") else None
unary("asin", np.arcsin, unit)
unary("asinh", np.arcsinh) if hasattr(mb, "asinh") else None
unary("atan", np.arctan)
unary("atanh", np.arctanh, unit)
unary("ceil", np.ceil)
unary("clip", lambda x: np.clip(x, -1.0, 1.0), alpha=-1.0, beta=1.0)
unary("cos", np.cos)
unary("cosh", np.cosh)
unary("erf", torch.erf, side=torched)
unary("exp", np.exp)
unary("exp2", np.exp2)
unary("floor", np.floor)
unary("inverse", np.reciprocal, positive, epsilon=0.0)
unary("log", np.log, positive, epsilon=0.0)
unary("round", np.round)
unary("rsqrt", torch.rsqrt, positive, side=torched, epsilon=0.0)
unary("sign", np.sign)
unary("sin", np.sin)
unary("sinh", np.sinh)
unary("sqrt", np.sqrt, positive)
unary("square", np.square)
unary("tan", np.tan)
unary("tanh", np.tanh)
unary("threshold", lambda x: np.maximum(x, np.float32(0.5)), alpha=0.5)
unary("clamped_relu", lambda x: torch.clamp(F.leaky_relu(x, 0.1), max=1.0), side=torched, alpha=0.1, beta=1.0)
unary("elu", lambda x: F.elu(x, 0.7), side=torched, alpha=0.7)
unary("gelu", F.gelu, side=torched, mode="EXACT")
unary("leaky_relu", lambda x: F.leaky_relu(x, 0.1), side=torched, alpha=0.1)
unary("linear_activation", lambda x: np.float32(2) * x + np.float32(1), alpha=2.0, beta=1.0)
unary("relu", torch.relu, side=torched)
unary("relu6", F.relu6, side=torched)
unary("scaled_tanh", lambda x: np.float32(1.5) * np.tanh(np.float32(0.7) * x), alpha=1.5, beta=0.7)
unary("sigmoid", torch.sigmoid, side=torched)
unary("sigmoid_hard", lambda x: np.clip(np.float32(0.2) * x + np.float32(0.5), 0, 1), alpha=0.2, beta=0.5)
unary("silu", F.silu, side=torched)
unary("softplus", F.softplus, side=torched)
unary("softsign", F.softsign, side=torched)
unary("thresholded_relu", lambda x: np.where(x >= np.float32(0.5), x, np.float32(0)), alpha=0.5)
slopes = floats(64, low=0.0, high=0.5)
torched("prelu", [image], lambda x: mb.prelu(x=x, alpha=slopes), lambda x: F.prelu(x, torch.from_numpy(slopes)))
torched("softplus_parametric", [image], lambda x: mb.softplus_parametric(x=x, alpha=slopes + 1, beta=slopes + 1),
        lambda x, a=torch.from_numpy(slopes + 1)[:, None, None]: a * F.softplus(a * x))
numpy("abs int32", [i], lambda x: mb.abs(x=x), np.abs)
numpy("clip int32 as fp32", [i], lambda x: mb.clip(x=cast(x, "fp32"), alpha=-5.0, beta=5.0),
      lambda x: np.clip(x.astype(np.float32), -5, 5))
numpy("logical_not", [i], lambda x: cast(mb.logical_not(x=cast(x, "bool")), "int32"),
      lambda x: np.logical_not(x.astype(bool)).astype(np.int32))


# Elementwise functions of two numbers
def binary(name, peer, a=x, b=y, label=None):
    numpy(label or name, [a, b], lambda x, y: getattr(mb, name)(x=x, y=y), peer)


binary("add", np.add)
binary("sub", np.subtract)
binary("mul", np.multiply)
binary("real_div", np.divide, x, positive)
# NumPy takes the floor of an exact quotient, MIL of the rounded one: they may differ where that is a whole number.
numpy("floor_div", [x, positive], lambda x, y: mb.floor_div(x=x, y=y), np.floor_divide, loose=True)
binary("mod", np.mod, x, positive)
binary("pow", np.power, positive, y)
binary("maximum", np.maximum)
binary("minimum", np.minimum)
binary("add", np.add, x, floats(1000), "add a row")
binary("add", np.add, x, floats(1000, 1), "add a column")
binary("add", np.add, x, floats(1), "add a number")
binary("mul", np.multiply, image, floats(1, 64, 1, 1), "mul channels")
binary("add", np.add, floats(1000, 1), floats(1, 1000), "add outer")
binary("add", np.add, i, j, "add int32")
binary("sub", np.subtract, i, j, "sub int32")
binary("mul", np.multiply, i, j, "mul int32")
binary("floor_div", np.floor_divide, i, nonzero, "floor_div int32")
binary("mod", np.mod, i, nonzero, "mod int32")
binary("maximum", np.maximum, i, j, "maximum int32")
numpy("real_div int32", [i, nonzero], lambda x, y: mb.real_div(x=x, y=y), lambda x, y: (x / y).astype(np.int32))
numpy("pow int32", [ints(*SQUARE, low=0, high=5), ints(*SQUARE, low=0, high=5)], lambda x, y: mb.pow(x=x, y=y),
      np.power)
for name, peer in [("equal", np.equal), ("not_equal", np.not_equal), ("less", np.less), ("less_equal", np.less_equal),
                   ("greater", np.greater), ("greater_equal", np.greater_equal)]:
    for label, a, b in [("", x, y), (" int32", i, j)]:
        numpy(name + label, [a, b], lambda x, y, name=name: cast(getattr(mb, name)(x=x, y=y), "int32"),
              lambda x, y, peer=peer: peer(x, y).astype(np.int32))
for name, peer in [("logical_and", np.logical_and), ("logical_or", np.logical_or), ("logical_xor", np.logical_xor)]:
    numpy(name, [i, j],
          lambda x, y, name=name: cast(getattr(mb, name)(x=cast(x, "bool"), y=cast(y, "bool")), "int32"),
          lambda x, y, peer=peer: peer(x.astype(bool), y.astype(bool)).astype(np.int32))
numpy("select", [x, y], lambda x, y: mb.select(cond=mb.greater(x=x, y=y), a=x, b=y),
      lambda x, y: np.where(x > y, x, y))
numpy("select int32", [i, j], lambda x, y: mb.select(cond=mb.greater(x=x, y=y), a=x, b=y),
      lambda x, y: np.where(x > y, x, y))
for source, target in [("fp32", "int32"), ("int32", "fp32"), ("fp32", "fp16"), ("int32", "int8"), ("int32", "uint8"),
                       ("int32", "int16"), ("int32", "uint16"), ("fp32", "int8"), ("fp32", "uint8"), ("fp32", "bool"),
                       ("int32", "bool")]:
    back = "fp32" if target == "fp16" else "int32"
    given = np.abs(i) if target.startswith("uint") and source == "int32" else i
    given = {"int32": given, "fp32": positive * 40}[source]
    program = (lambda x, t=target: cast(x, t)) if target == back or target == "fp32" else (
        lambda x, t=target, b=back: cast(cast(x, t), b))
    peer = (lambda x, t=target: x.astype(TYPES[t])) if target == back or target == "fp32" else (
        lambda x, t=target, b=back: x.astype(TYPES[t]).astype(TYPES[b]))
    numpy(f"cast {source} to {target}", [given], program, peer)


# Reductions, softmax and running sums along every axis
def log_sum_exp(x, axis):
    peak = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(peak, axis) + np.log(np.sum(np.exp(x - peak), axis=axis))


REDUCTIONS = {
    "reduce_sum": np.sum, "reduce_mean": np.mean, "reduce_max": np.max, "reduce_min": np.min, "reduce_prod": np.prod,
    "reduce_l1_norm": lambda x, axis: np.sum(np.abs(x), axis=axis),
    "reduce_l2_norm": lambda x, axis: np.sqrt(np.sum(np.square(x), axis=axis)),
    "reduce_sum_square": lambda x, axis: np.sum(np.square(x), axis=axis),
    "reduce_log_sum": lambda x, axis: np.log(np.sum(x, axis=axis)), "reduce_log_sum_exp": log_sum_exp,
}
AXES = {"first": (0,), "middle": (1,), "last": (2,), "last two": (1, 2), "first two": (0, 1), "outer two": (0, 2),
        "all": (0, 1, 2)}
near_one = floats(*CUBE, low=0.99, high=1.01)
for name, peer in REDUCTIONS.items():
    for label, axes in AXES.items():
        if name in ("reduce_sum", "reduce_mean", "reduce_max") or label in ("first", "middle", "last", "all"):
            numpy(f"{name} {label}", [near_one],
                  lambda x, name=name, axes=axes: getattr(mb, name)(x=x, axes=axes, keep_dims=False),
                  lambda x, peer=peer, axes=axes: peer(x, axis=axes))
whole = ints(*CUBE)
for name, peer in [("reduce_sum", np.sum), ("reduce_max", np.max), ("reduce_min", np.min)]:
    for label in ("first", "last", "all"):
        numpy(f"{name} int32 {label}", [whole],
              lambda x, name=name, axes=AXES[label]: getattr(mb, name)(x=x, axes=axes, keep_dims=False),
              lambda x, peer=peer, axes=AXES[label]: peer(x, axis=axes).astype(np.int32))
for axis in range(3):
    for name, peer in [("reduce_argmax", np.argmax), ("reduce_argmin", np.argmin)]:
        numpy(f"{name} axis {axis}", [cube],
              lambda x, name=name, axis=axis: getattr(mb, name)(x=x, axis=axis, keep_dims=False),
              lambda x, peer=peer, axis=axis: peer(x, axis=axis).astype(np.int32))
    numpy(f"reduce_argmax int32 axis {axis}", [whole], lambda x, a=axis: mb.reduce_argmax(x=x, axis=a, keep_dims=False),
          lambda x, a=axis: np.argmax(x, axis=a).astype(np.int32))
    torched(f"softmax axis {axis}", [cube], lambda x, a=axis: mb.softmax(x=x, axis=a),
            lambda x, a=axis: torch.softmax(x, a))
    numpy(f"cumsum axis {axis}", [cube], lambda x, a=axis: mb.cumsum(x=x, axis=a), lambda x, a=axis: np.cumsum(x, a))
numpy("cumsum long", [floats(1000000)], lambda x: mb.cumsum(x=x, axis=0), lambda x: np.cumsum(x), loose=True)
numpy("cumsum reverse exclusive", [cube], lambda x: mb.cumsum(x=x, axis=1, reverse=True, exclusive=True),
      lambda x: np.cumsum(np.roll(x, -1, 1)[:, ::-1], axis=1)[:, ::-1], loose=True)
numpy("cumsum int32", [whole], lambda x: mb.cumsum(x=x, axis=2), lambda x: np.cumsum(x, 2, dtype=np.int32))

# Gathering and scattering
rows = ints(1000, low=0, high=1000)
places = ints(*SQUARE, low=0, high=1000)
pairs = ints(1000000, 2, low=0, high=1000)
few_pairs = ints(2000, 1, low=0, high=1000)
numpy("gather rows", [x, rows], lambda x, i: mb.gather(x=x, indices=i, axis=0), lambda x, i: np.take(x, i, axis=0))
numpy("gather columns", [x, rows], lambda x, i: mb.gather(x=x, indices=i, axis=1), lambda x, i: np.take(x, i, axis=1))
numpy("gather numbers", [floats(1000000), ints(1000000, low=0, high=1000000)],
      lambda x, i: mb.gather(x=x, indices=i, axis=0), lambda x, i: np.take(x, i))
numpy("gather int16 indices", [x, rows], lambda x, i: mb.gather(x=x, indices=cast(i, "int16"), axis=1),
      lambda x, i: np.take(x, i.astype(np.int16), axis=1))
numpy("gather batched", [floats(100, 100, 100), ints(100, 100, low=0, high=100)],
      lambda x, i: mb.gather(x=x, indices=i, axis=1, batch_dims=1), lambda x, i: x[np.arange(100)[:, None], i])
numpy("gather_nd", [x, pairs], lambda x, i: mb.gather_nd(x=x, indices=i), lambda x, i: x[i[:, 0], i[:, 1]])
numpy("gather_nd rows", [x, few_pairs], lambda x, i: mb.gather_nd(x=x, indices=i), lambda x, i: x[i[:, 0]])
for axis in range(2):
    numpy(f"gather_along_axis {axis}", [x, places], lambda x, i, a=axis: mb.gather_along_axis(x=x, indices=i, axis=a),
          lambda x, i, a=axis: np.take_along_axis(x, i, a))


def put_along(x, indices, updates, axis):
    result = x.copy()
    np.put_along_axis(result, indices, updates, axis)
    return result


def assigned(x, place, updates):
    result = x.copy()
    result[place] = updates
    return result


def added(x, place, updates):
    result = x.copy()
    np.add.at(result, place, updates)
    return result


permuted = random.permutation(1000).astype(np.int32)
for axis in range(2):
    numpy(f"scatter_along_axis {axis}", [x, places, y],
          lambda x, i, u, a=axis: mb.scatter_along_axis(data=x, indices=i, updates=u, axis=a, mode="update"),
          lambda x, i, u, a=axis: put_along(x, i, u, a), loose=True)
torched("scatter_along_axis add", [x, places.astype(np.int32), y],
        lambda x, i, u: mb.scatter_along_axis(data=x, indices=i, updates=u, axis=1, mode="add"),
        lambda x, i, u: x.scatter_add(1, i.long(), u))
numpy("scatter rows", [x, permuted, y],
      lambda x, i, u: mb.scatter(data=x, indices=i, updates=u, axis=0, mode="update"),
      lambda x, i, u: assigned(x, i, u))
numpy("scatter columns", [x, permuted, y],
      lambda x, i, u: mb.scatter(data=x, indices=i, updates=u, axis=1, mode="update"),
      lambda x, i, u: assigned(x, (slice(None), i), u))
numpy("scatter rows add", [x, rows, y], lambda x, i, u: mb.scatter(data=x, indices=i, updates=u, axis=0, mode="add"),
      lambda x, i, u: added(x, i, u))
numpy("scatter_nd", [x, pairs, floats(1000000)],
      lambda x, i, u: mb.scatter_nd(data=x, indices=i, updates=u, mode="update"),
      lambda x, i, u: assigned(x, (i[:, 0], i[:, 1]), u))
numpy("scatter_nd add", [x, pairs, floats(1000000)],
      lambda x, i, u: mb.scatter_nd(data=x, indices=i, updates=u, mode="add"),
      lambda x, i, u: added(x, (i[:, 0], i[:, 1]), u))

# Slices, joins and other movement
numpy("slice_by_index", [cube], lambda x: mb.slice_by_index(x=x, begin=[1, 2, 3], end=[63, 126, 125]),
      lambda x: x[1:63, 2:126, 3:125].copy())
numpy("slice_by_index strided", [cube], lambda x: mb.slice_by_index(x=x, begin=[0, 0, 0], end=CUBE, stride=[1, 1, 2]),
      lambda x: x[:, :, ::2].copy())
numpy("slice_by_size", [cube], lambda x: mb.slice_by_size(x=x, begin=[1, 2, 3], size=[62, 124, 122]),
      lambda x: x[1:63, 2:126, 3:125].copy())
numpy("slice_update", [cube, floats(62, 124, 122)],
      lambda x, u: mb.slice_update(x=x, update=u, begin=[1, 2, 3], end=[63, 126, 125]),
      lambda x, u: assigned(x, np.s_[1:63, 2:126, 3:125], u))
half = floats(500, 1000)
for axis in range(2):
    numpy(f"concat axis {axis}", [x, y], lambda x, y, a=axis: mb.concat(values=[x, y], axis=a),
          lambda x, y, a=axis: np.concatenate([x, y], a))
    numpy(f"stack axis {axis}", [x, y], lambda x, y, a=axis: mb.stack(values=[x, y], axis=a),
          lambda x, y, a=axis: np.stack([x, y], a))
    numpy(f"split axis {axis}", [x], lambda x, a=axis: mb.split(x=x, num_splits=2, axis=a),
          lambda x, a=axis: [part.copy() for part in np.split(x, 2, a)])
    numpy(f"reverse axis {axis}", [x], lambda x, a=axis: mb.reverse(x=x, axes=[a]),
          lambda x, a=axis: np.flip(x, a).copy())
numpy("stack axis 2", [x, y], lambda x, y: mb.stack(values=[x, y], axis=2), lambda x, y: np.stack([x, y], 2))
numpy("tile rows", [floats(100, 1000)], lambda x: mb.tile(x=x, reps=[10, 1]), lambda x: np.tile(x, (10, 1)))
numpy("tile columns", [floats(1000, 100)], lambda x: mb.tile(x=x, reps=[1, 10]), lambda x: np.tile(x, (1, 10)))
numpy("tile numbers", [floats(1000, 100, 1)], lambda x: mb.tile(x=x, reps=[1, 1, 10]), lambda x: np.tile(x, (1, 1, 10)))
for mode, name in [("constant", "constant"), ("reflect", "reflect"), ("replicate", "edge")]:
    numpy(f"pad {mode}", [image], lambda x, m=mode: mb.pad(x=x, pad=[0, 0, 0, 0, 2, 3, 4, 5], mode=m),
          lambda x, n=name: np.pad(x, ((0, 0), (0, 0), (2, 3), (4, 5)), mode=n))
for permutation in [(0, 2, 1), (1, 0, 2), (2, 0, 1), (2, 1, 0), (1, 2, 0)]:
    numpy(f"transpose {permutation}", [cube], lambda x, p=permutation: mb.transpose(x=x, perm=p),
          lambda x, p=permutation: np.ascontiguousarray(np.transpose(x, p)))
numpy("transpose square", [x], lambda x: mb.transpose(x=x, perm=[1, 0]), lambda x: np.ascontiguousarray(x.T))
numpy("transpose heads", [floats(1, 1024, 16, 64)], lambda x: mb.transpose(x=x, perm=[0, 2, 1, 3]),
      lambda x: np.ascontiguousarray(np.transpose(x, (0, 2, 1, 3))))
numpy("transpose int8", [i], lambda x: cast(mb.transpose(x=cast(x, "int8"), perm=[1, 0]), "int32"),
      lambda x: np.ascontiguousarray(x.astype(np.int8).T).astype(np.int32))
numpy("transpose fp16", [x], lambda x: cast(mb.transpose(x=cast(x, "fp16"), perm=[1, 0]), "fp32"),
      lambda x: np.ascontiguousarray(x.astype(np.float16).T).astype(np.float32))
numpy("reshape", [x], lambda x: mb.reshape(x=x, shape=[500, 2000]), lambda x: x.reshape(500, 2000).copy())
numpy("expand_dims", [x], lambda x: mb.expand_dims(x=x, axes=[1]), lambda x: x[:, None].copy())
numpy("squeeze", [floats(1000, 1, 1000)], lambda x: mb.squeeze(x=x, axes=[1]), lambda x: x[:, 0].copy())
numpy("flatten2d", [cube], lambda x: mb.flatten2d(x=x, axis=1), lambda x: x.reshape(64, -1).copy())
lengths = ints(64, low=1, high=128)


def reversed_sequences(x, lengths):
    result = x.copy()
    for batch, length in enumerate(lengths):
        result[batch, :length] = x[batch, :length][::-1]
    return result


numpy("reverse_sequence", [cube, lengths],
      lambda x, n: mb.reverse_sequence(x=x, lengths=n, seq_axis=1, batch_axis=0), reversed_sequences)
numpy("band_part", [x], lambda x: mb.band_part(x=x, lower=-1, upper=0), np.tril)
numpy("one_hot", [ints(10000, low=0, high=100)], lambda x: mb.one_hot(indices=x, one_hot_vector_size=100),
      lambda x: np.eye(100, dtype=np.int32)[x])
numpy("non_zero", [np.where(i > 0, x, 0)], lambda x: mb.non_zero(x=x), lambda x: np.argwhere(x).astype(np.int32))
numpy("sliding_windows", [floats(1000, 250)], lambda x: mb.sliding_windows(x=x, axis=1, size=4),
      lambda x: np.lib.stride_tricks.sliding_window_view(x, 4, 1).copy())
numpy("fill", [ints(1, low=1, high=2)],
      lambda n: mb.fill(shape=mb.concat(values=[n, [1000000]], axis=0), value=1.5),
      lambda n: np.full((1, 1000000), 1.5, np.float32))
numpy("fill_like", [x], lambda x: mb.fill_like(ref_tensor=x, value=1.5), lambda x: np.full_like(x, 1.5))
numpy("range_1d", [np.array([1e6], np.float32)],
      lambda n: mb.range_1d(start=0.0, end=mb.squeeze(x=n), step=1.0), lambda n: np.arange(0, n[0], 1, np.float32))
numpy("shape", [x], lambda x: mb.shape(x=x), lambda x: np.array(x.shape, np.int32))
numpy("identity", [x], lambda x: mb.identity(x=x), np.copy)

# Order
for axis in range(2):
    numpy(f"topk 10 axis {axis}", [x], lambda x, a=axis: mb.topk(x=x, k=10, axis=a),
          lambda x, a=axis: top(x, 10, a))
    numpy(f"argsort axis {axis}", [x], lambda x, a=axis: mb.argsort(x=x, axis=a, ascending=True),
          lambda x, a=axis: np.argsort(x, a, kind="stable").astype(np.int32))


def top(x, k, axis):
    """The k largest in order: a partition, then a sort of those."""
    part = np.argpartition(-x, k, axis).take(np.arange(k), axis)
    values = np.take_along_axis(x, part, axis)
    order = np.argsort(-values, axis)
    return np.take_along_axis(values, order, axis), np.take_along_axis(part, order, axis).astype(np.int32)


# The indices of equal numbers come in another order there, so only the numbers are compared.
torched("topk 100 of a million", [floats(1000000)], lambda x: mb.topk(x=x, k=100, axis=0), lambda x: torch.topk(x, 100)[0])
torched("topk 500 axis 1", [x], lambda x: mb.topk(x=x, k=500, axis=1), lambda x: torch.topk(x, 500, 1)[0])
numpy("argsort long", [floats(1000000)], lambda x: mb.argsort(x=x, axis=0, ascending=True),
      lambda x: np.argsort(x, kind="stable").astype(np.int32))
numpy("argsort int32", [ints(*SQUARE, low=-10**9, high=10**9)], lambda x: mb.argsort(x=x, axis=1, ascending=True),
      lambda x: np.argsort(x, 1, kind="stable").astype(np.int32))
torched("topk all sorted", [x], lambda x: mb.topk(x=x, k=1000, axis=1), lambda x: torch.sort(x, 1, descending=True)[0])

# Space
numpy("depth_to_space", [image], lambda x: mb.depth_to_space(x=x, block_size=2),
      lambda x: np.ascontiguousarray(x.reshape(1, 2, 2, 16, 128, 128).transpose(0, 3, 4, 1, 5, 2)).reshape(1, 16, 256, 256))
numpy("space_to_depth", [image], lambda x: mb.space_to_depth(x=x, block_size=2),
      lambda x: np.ascontiguousarray(x.reshape(1, 64, 64, 2, 64, 2).transpose(0, 3, 5, 1, 2, 4)).reshape(1, 256, 64, 64))
torched("pixel_shuffle", [image], lambda x: mb.pixel_shuffle(x=x, upscale_factor=2), lambda x: F.pixel_shuffle(x, 2))
torched("pixel_unshuffle", [image], lambda x: mb.pixel_unshuffle(x=x, downscale_factor=np.uint32(2)),
        lambda x: F.pixel_unshuffle(x, 2))
numpy("space_to_batch", [floats(1, 64, 128, 126)],
      lambda x: mb.space_to_batch(x=x, block_shape=[2, 2], paddings=[[0, 0], [1, 1]]),
      lambda x: np.ascontiguousarray(np.pad(x, ((0, 0), (0, 0), (0, 0), (1, 1))).reshape(1, 64, 64, 2, 64, 2).transpose(
          3, 5, 0, 1, 2, 4)).reshape(4, 64, 64, 64))
numpy("batch_to_space", [floats(4, 64, 64, 64)],
      lambda x: mb.batch_to_space(x=x, block_shape=[2, 2], crops=[[0, 0], [1, 1]]),
      lambda x: np.ascontiguousarray(x.reshape(2, 2, 64, 64, 64).transpose(2, 3, 0, 4, 1)).reshape(
          1, 64, 128, 128)[:, :, :, 1:-1].copy())
small = floats(1, 64, 64, 64)
torched("resize_bilinear", [small],
        lambda x: mb.resize_bilinear(x=x, target_size_height=128, target_size_width=128, sampling_mode="UNALIGN_CORNERS"),
        lambda x: F.interpolate(x, size=(128, 128), mode="bilinear", align_corners=False))
torched("resize_bilinear odd", [floats(1, 16, 250, 250)],
        lambda x: mb.resize_bilinear(x=x, target_size_height=222, target_size_width=333,
                                     sampling_mode="STRICT_ALIGN_CORNERS"),
        lambda x: F.interpolate(x, size=(222, 333), mode="bilinear", align_corners=True))
torched("resize_nearest_neighbor", [small],
        lambda x: mb.resize_nearest_neighbor(x=x, target_size_height=128, target_size_width=128),
        lambda x: F.interpolate(x, size=(128, 128), mode="nearest"))
torched("upsample_bilinear", [small],
        lambda x: mb.upsample_bilinear(x=x, scale_factor_height=2.0, scale_factor_width=2.0, align_corners=True),
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True))
torched("upsample_nearest_neighbor", [small],
        lambda x: mb.upsample_nearest_neighbor(x=x, scale_factor_height=2.0, scale_factor_width=2.0),
        lambda x: F.interpolate(x, scale_factor=2, mode="nearest"))
grid = floats(1, 128, 128, 2, low=-1.0, high=1.0)
torched("resample", [image, grid],
        lambda x, g: mb.resample(x=x, coordinates=g, sampling_mode="bilinear", padding_mode="constant",
                                 padding_value=0.0, coordinates_mode="normalized_minus_one_to_one",
                                 align_corners=True),
        lambda x, g: F.grid_sample(x, g, align_corners=True))
torched("resample nearest", [image, grid],
        lambda x, g: mb.resample(x=x, coordinates=g, sampling_mode="nearest", padding_mode="border",
                                 padding_value=0.0, coordinates_mode="normalized_minus_one_to_one",
                                 align_corners=True),
        lambda x, g: F.grid_sample(x, g, mode="nearest", padding_mode="border", align_corners=True), loose=True)
matrix = np.array([[0.9, 0.1, 0.05, -0.1, 0.8, 0.1]], np.float32)
torched("affine", [image, matrix],
        lambda x, t: mb.affine(x=x, transform_matrix=t, output_height=128, output_width=128, sampling_mode="bilinear",
                               padding_mode="constant", padding_value=0.0,
                               coordinates_mode="normalized_minus_one_to_one", align_corners=True),
        lambda x, t: F.grid_sample(x, F.affine_grid(t.reshape(1, 2, 3), (1, 64, 128, 128), align_corners=True),
                                   align_corners=True))
corners = np.sort(random.uniform(0, 127, (100, 2, 2)), axis=1).reshape(100, 4).astype(np.float32)


def crops(x, boxes):
    """Each box resized by a sampling grid, corners on corners."""
    y, x0 = torch.linspace(0, 1, 12), torch.linspace(0, 1, 12)
    rows = boxes[:, 0:1] + (boxes[:, 2:3] - boxes[:, 0:1]) * y
    columns = boxes[:, 1:2] + (boxes[:, 3:4] - boxes[:, 1:2]) * x0
    grid = torch.stack([columns[:, None, :].expand(-1, 12, -1), rows[:, :, None].expand(-1, -1, 12)], 3) / 63.5 - 1
    return F.grid_sample(x.expand(100, -1, -1, -1), grid, align_corners=True)


torched("crop_resize", [image, corners],
        lambda x, b: mb.crop_resize(x=x, boxes=b, box_indices=np.zeros(100, np.int32), target_height=12,
                                    target_width=12, sampling_mode="STRICT_ALIGN_CORNERS", pad_value=0.0),
        crops)


# Normalisation
def layer_norm(x, axes):
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=axes, keepdims=True) + np.float32(1e-5))


for label, axes in AXES.items():
    if label.startswith("last") or label == "all":
        torched(f"layer_norm {label}", [cube], lambda x, a=axes: mb.layer_norm(x=x, axes=a, epsilon=1e-5),
                lambda x, a=axes: F.layer_norm(x, [CUBE[axis] for axis in a]))
    else:
        numpy(f"layer_norm {label}", [cube], lambda x, a=axes: mb.layer_norm(x=x, axes=a, epsilon=1e-5),
              lambda x, a=axes: layer_norm(x, a))
ones = np.ones(64, np.float32)
torched("batch_norm", [image], lambda x: mb.batch_norm(x=x, mean=slopes, variance=ones, gamma=ones, beta=slopes),
        lambda x, s=torch.from_numpy(slopes), o=torch.from_numpy(ones): F.batch_norm(x, s, o, o, s))
torched("instance_norm", [image], lambda x: mb.instance_norm(x=x, gamma=ones, beta=slopes, epsilon=1e-5),
        lambda x, s=torch.from_numpy(slopes), o=torch.from_numpy(ones): F.instance_norm(x, weight=o, bias=s))
numpy("l2_norm", [image], lambda x: mb.l2_norm(x=x, epsilon=1e-6),
      lambda x: x / np.sqrt(np.sum(np.square(x), axis=(1, 2, 3), keepdims=True) + np.float32(1e-6)))
torched("local_response_norm", [image], lambda x: mb.local_response_norm(x=x, size=5, alpha=1e-4, beta=0.75, k=1.0),
        lambda x: F.local_response_norm(x, 5))

# Products, pools and convolutions
a, b = floats(512, 512), floats(512, 512)
numpy("matmul", [a, b], lambda x, y: mb.matmul(x=x, y=y), np.matmul)
numpy("matmul batched", [floats(64, 128, 128), floats(64, 128, 128)], lambda x, y: mb.matmul(x=x, y=y), np.matmul)
numpy("matmul transposed", [a, b], lambda x, y: mb.matmul(x=x, y=y, transpose_y=True), lambda x, y: x @ y.T)
numpy("linear", [x], lambda x: mb.linear(x=x, weight=y, bias=y[0]), lambda x: x @ y.T + y[0])
numpy("linear one row", [floats(1, 1000)], lambda x: mb.linear(x=x, weight=y, bias=y[0]), lambda x: x @ y.T + y[0])
numpy("einsum", [floats(8, 64, 32, 32), floats(8, 32, 32, 64)],
      lambda x, y: mb.einsum(values=[x, y], equation="nchw,nwhu->nchu"),
      lambda x, y: np.einsum("nchw,nwhu->nchu", x, y, optimize=True))
for name, pool in [("max_pool", F.max_pool2d), ("avg_pool", F.avg_pool2d)]:
    torched(name, [image],
            lambda x, n=name: getattr(mb, n)(x=x, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid"),
            lambda x, p=pool: p(x, 2, 2))
    torched(f"{name} 3 by 3 padded", [image],
            lambda x, n=name: getattr(mb, n)(x=x, kernel_sizes=[3, 3], strides=[1, 1], pad_type="custom",
                                             pad=[1, 1, 1, 1]),
            lambda x, p=pool: p(x, 3, 1, 1))
torched("l2_pool", [image], lambda x: mb.l2_pool(x=x, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid"),
        lambda x: F.lp_pool2d(x, 2, 2, 2))
torched("max_pool 1-D", [floats(1, 64, 16384)],
        lambda x: mb.max_pool(x=x, kernel_sizes=[2], strides=[2], pad_type="valid"), lambda x: F.max_pool1d(x, 2, 2))
torched("avg_pool 3-D", [floats(1, 16, 40, 40, 40)],
        lambda x: mb.avg_pool(x=x, kernel_sizes=[2, 2, 2], strides=[2, 2, 2], pad_type="valid"),
        lambda x: F.avg_pool3d(x, 2, 2))
torched("global avg_pool", [image],
        lambda x: mb.avg_pool(x=x, kernel_sizes=[128, 128], strides=[1, 1], pad_type="valid"),
        lambda x: F.adaptive_avg_pool2d(x, 1))


def convolution(name, given, weight, function, operation="conv", **attributes):
    torch_weight = torch.from_numpy(weight)
    torched(name, [given], lambda x: getattr(mb, operation)(x=x, weight=weight, pad_type="valid", **attributes),
            lambda x: function(x, torch_weight))


convolution("conv 3 by 3", image, floats(64, 64, 3, 3), F.conv2d)
convolution("conv 1 by 1", image, floats(64, 64, 1, 1), F.conv2d)
convolution("conv 1-D", floats(1, 64, 16384), floats(64, 64, 3), F.conv1d)
convolution("conv 3-D", floats(1, 16, 40, 40, 40), floats(16, 16, 3, 3, 3), F.conv3d)
convolution("conv depthwise", image, floats(64, 1, 3, 3), lambda x, w: F.conv2d(x, w, groups=64), groups=64)
convolution("conv dilated", image, floats(64, 64, 3, 3), lambda x, w: F.conv2d(x, w, dilation=2), dilations=[2, 2])
convolution("conv grouped", image, floats(64, 16, 3, 3), lambda x, w: F.conv2d(x, w, groups=4), groups=4)
convolution("conv_transpose", small, floats(64, 64, 2, 2), lambda x, w: F.conv_transpose2d(x, w, stride=2),
            "conv_transpose", strides=[2, 2])
heads = [floats(1, 16, 256, 64) for _ in range(3)]
torched("scaled_dot_product_attention", heads,
        lambda q, k, v: mb.scaled_dot_product_attention(query=q, key=k, value=v), F.scaled_dot_product_attention)

# Quantisation
numpy("quantize", [x], lambda x: cast(mb.quantize(input=x, scale=np.float32(0.02), zero_point=np.int8(3),
                                                  output_dtype="int8"), "int32"),
      lambda x: np.clip(np.rint(x / np.float32(0.02)) + np.float32(3), -128, 127).astype(np.int8).astype(np.int32))
numpy("dequantize", [i], lambda x: mb.dequantize(input=cast(x, "int8"), scale=np.float32(0.02), zero_point=np.int8(3)),
      lambda x: (x.astype(np.int8).astype(np.float32) - np.float32(3)) * np.float32(0.02))

# Random numbers
generator = np.random.default_rng(1)
numpy("random_uniform", [ints(1, low=1, high=2)],
      lambda n: mb.random_uniform(shape=mb.concat(values=[n, [1000000]], axis=0), low=-1.0, high=1.0, seed=5),
      lambda n: generator.uniform(-1, 1, (1, 1000000)).astype(np.float32), loose=True)
numpy("random_normal", [ints(1, low=1, high=2)],
      lambda n: mb.random_normal(shape=mb.concat(values=[n, [1000000]], axis=0), mean=0.0, stddev=1.0, seed=5),
      lambda n: generator.normal(0, 1, (1, 1000000)).astype(np.float32), loose=True)
numpy("random_bernoulli", [ints(1, low=1, high=2)],
      lambda n: mb.random_bernoulli(shape=mb.concat(values=[n, [1000000]], axis=0), prob=0.3, seed=5),
      lambda n: (generator.random((1, 1000000)) < 0.3).astype(np.float32), loose=True)
weights = floats(1000, 100, low=0.0, high=1.0)
torched("random_categorical", [weights], lambda x: mb.random_categorical(x=x, mode="probs", size=100, seed=5),
        lambda x: torch.multinomial(x, 100, replacement=True).float(), loose=True)

# Detection
boxes = np.concatenate([floats(1, 2000, 2, low=0, high=100), floats(1, 2000, 2, low=1, high=20)], 2)
scores = floats(1, 2000, 80, low=0, high=1)


def suppressed(boxes, scores):
    """Greedy suppression with NumPy, as it is usually written."""
    boxes, best = boxes[0], scores[0].max(1)
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    area = boxes[:, 2] * boxes[:, 3]
    order, kept = best.argsort()[::-1], []
    while order.size and len(kept) < 100:
        first, order = order[0], order[1:]
        kept.append(first)
        size = np.clip(np.minimum(high[first], high[order]) - np.maximum(low[first], low[order]), 0, None)
        common = size[:, 0] * size[:, 1]
        order = order[common / (area[first] + area[order] - common) <= 0.5]
    return boxes[kept][None], scores[:, kept], np.array(kept, np.int32)[None]


numpy("non_maximum_suppression", [boxes.transpose(0, 2, 1).copy(), scores.transpose(0, 2, 1).copy()],
      lambda b, s: mb.non_maximum_suppression(boxes=b, scores=s, iou_threshold=0.5, max_boxes=100),
      lambda b, s: suppressed(b.transpose(0, 2, 1), s.transpose(0, 2, 1)), loose=True)

try:
    import torchvision
except ImportError:         # not a part of the oracles: the case is left out
    torchvision = None


def suppressed_by_torchvision(boxes, scores):
    """The same by torchvision's operator; boxes come as corners there."""
    boxes, scores = boxes[0].T, scores[0]
    half = boxes[:, 2:] / 2
    kept = torchvision.ops.nms(torch.cat([boxes[:, :2] - half, boxes[:, :2] + half], 1), scores.amax(0), 0.5)[:100]
    return boxes[kept].T[None], scores[:, kept][None], kept.int()[None]


if torchvision:
    torched("non_maximum_suppression torchvision", [boxes.transpose(0, 2, 1).copy(), scores.transpose(0, 2, 1).copy()],
            lambda b, s: mb.non_maximum_suppression(boxes=b, scores=s, iou_threshold=0.5, max_boxes=100),
            suppressed_by_torchvision)

# Recurrent layers: sequence 128, 512 inputs, hidden 512, batch 1
HIDDEN = 512
sequence = floats(128, 1, HIDDEN)


def reordered(weight, gates):
    """PyTorch's gate order of a weight or bias as MIL's."""
    return np.ascontiguousarray(np.concatenate([np.split(weight.detach().numpy(), len(gates))[gate] for gate in gates]))


def recurrent(kind, both):
    torch.manual_seed(7)
    layer = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[kind](HIDDEN, HIDDEN, bidirectional=both)
    gates = [0, 1, 3, 2] if kind == "lstm" else [0, 1, 2]
    arguments = {}
    for ours, suffix in [("", "")] + [("_back", "_reverse")] * both:
        take = lambda name: reordered(getattr(layer, f"{name}_l0{suffix}"), gates)  # noqa: E731
        arguments |= {f"weight_ih{ours}": take("weight_ih"), f"weight_hh{ours}": take("weight_hh"),
                      f"bias{ours}": take("bias_ih") + take("bias_hh")}
    zeros = np.zeros((1, HIDDEN * (2 if both else 1)), np.float32)
    arguments |= {"initial_h": zeros, "output_sequence": True, "direction": "bidirectional" if both else "forward"}
    if kind == "lstm":
        arguments["initial_c"] = zeros
    torched(f"{kind} two directions" if both else kind, [sequence],
            lambda x: getattr(mb, kind)(x=x, **arguments)[0], lambda x: layer(x)[0], loose=kind == "gru")


recurrent("lstm", False)
recurrent("lstm", True)
recurrent("gru", False)

# Compressed weights against half-precision ones
from coremltools.converters.mil.mil import types  # noqa: E402

WIDTH = 2048
table_rows = {count: floats(1, 1, 1 << count, 1).astype(np.float16) for count in (1, 2, 3, 4, 6, 8)}


def compressed(name, given, weight, half, operation):
    """`weight` makes the compressed weight inside the program."""
    def program(x, value):
        return cast(operation(cast(x, "fp16"), value()), "fp32")
    CASES.append(Case(name, [given], lambda x: program(x, weight), lambda x: program(x, lambda: half), "fp16"))


def palette(count, shape):
    kind = {1: types.np_uint1_dtype, 2: types.np_uint2_dtype, 3: types.np_uint3_dtype, 4: types.np_uint4_dtype,
            6: types.np_uint6_dtype, 8: np.uint8}[count]
    indices = random.integers(0, 1 << count, shape).astype(np.uint8).astype(kind)
    table = table_rows[count].reshape((1,) * len(shape) + (1 << count, 1))
    return lambda: mb.constexpr_lut_to_dense(indices=indices, lut=table)


def blocks(kind, low, high, size, shape):
    data = random.integers(low, high, shape).astype(np.int8).astype(kind)
    scale = floats(shape[0], shape[1] // size, *shape[2:], low=0.001, high=0.01).astype(np.float16)
    return lambda: mb.constexpr_blockwise_shift_scale(data=data, scale=scale)


dense = floats(WIDTH, WIDTH, low=-0.05, high=0.05).astype(np.float16)
filters = floats(256, 256, 3, 3, low=-0.05, high=0.05).astype(np.float16)


def linear(x, weight):
    return mb.linear(x=x, weight=weight)


def convolved(x, weight):
    return mb.conv(x=x, weight=weight, pad_type="valid")


for rows_given in (1, 128):
    for count in (1, 2, 3, 4, 6, 8):
        compressed(f"weights linear {rows_given} rows {count}-bit palette", floats(rows_given, WIDTH),
                   palette(count, (WIDTH, WIDTH)), dense, linear)
    compressed(f"weights linear {rows_given} rows int8 blocks", floats(rows_given, WIDTH),
               blocks(np.int8, -127, 127, 32, (WIDTH, WIDTH)), dense, linear)
    compressed(f"weights linear {rows_given} rows int4 blocks", floats(rows_given, WIDTH),
               blocks(types.np_int4_dtype, -8, 8, 32, (WIDTH, WIDTH)), dense, linear)
compressed("weights conv 4-bit palette", floats(1, 256, 28, 28), palette(4, (256, 256, 3, 3)), filters, convolved)
compressed("weights conv int8 blocks", floats(1, 256, 28, 28), blocks(np.int8, -127, 127, 32, (256, 256, 3, 3)), filters,
           convolved)
