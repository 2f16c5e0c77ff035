"""The models of `Benchmarks/compressed/run`, with random weights: one decoding step of GPT-2 in float16 and compressed by
coremltools, and single products [rows × terms] · [terms × columns], for us and for ONNX Runtime."""
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent.parent / "Oracles" / "zoo" / "Networks"))
PAST = 63


def forms():
    """Form → what makes it of a float16 model."""
    import coremltools.optimize.coreml as optimize

    def linear(**options):
        config = optimize.OpLinearQuantizerConfig(mode="linear_symmetric", **options)
        return lambda model: optimize.linear_quantize_weights(model, optimize.OptimizationConfig(global_config=config))

    def palette(bits):
        config = optimize.OpPalettizerConfig(mode="uniform", nbits=bits)
        return lambda model: optimize.palettize_weights(model, optimize.OptimizationConfig(global_config=config))

    return {
        "float16": lambda model: model,
        "int8": linear(dtype="int8", granularity="per_channel"),
        "int4-block32": linear(dtype="int4", granularity="per_block", block_size=32),
        "palette8": palette(8),
        "palette6": palette(6),
        "palette4": palette(4),
        "palette2": palette(2),
    }


def save(model, folder, wanted):
    """Writes the forms of a float16 model that are not there yet."""
    import coremltools as ct

    for name in wanted:
        path = folder / f"{name}.mlpackage"
        if not path.exists():
            model = ct.models.MLModel(str(folder / "float16.mlpackage"), skip_model_load=True) if name != "float16" else model
            forms()[name](model).save(str(path))


def token(folder):
    """A decoding step of GPT-2 in every form, and `step.npz`, its inputs."""
    folder.mkdir(parents=True, exist_ok=True)
    if all((folder / f"{name}.mlpackage").exists() for name in forms()):
        return
    import coremltools as ct
    import torch
    import catalogue

    torch.manual_seed(7)
    network = catalogue.gpt2_decode(PAST)
    np.savez(folder / "step.npz", **{f"in:{name}": value.numpy() for name, value in network.inputs.items()})
    model = None
    if not (folder / "float16.mlpackage").exists():
        model = ct.convert(
            torch.jit.trace(network.module, tuple(network.inputs.values())),
            inputs=[
                ct.TensorType(name=name, shape=value.shape, dtype=np.int32 if value.dtype == torch.int32 else np.float32)
                for name, value in network.inputs.items()
            ],
            outputs=[ct.TensorType(name=name, dtype=np.float32) for name in network.outputs],
            minimum_deployment_target=ct.target.iOS18,
            skip_model_load=True,
        )
    save(model, folder, forms())


def product(folder, rows, terms, columns):
    """x [rows, terms] · Wᵀ [columns, terms] in every form, ONNX Runtime's int4 and int8 of blocks of 32 and its int8 whose
    rows are quantised as they come, `x.npz`."""
    folder.mkdir(parents=True, exist_ok=True)
    if all((folder / f"{name}.mlpackage").exists() for name in forms()) and (folder / "dynamic.onnx").exists():
        return
    import coremltools as ct
    import onnx
    from coremltools.converters.mil import Builder as mb
    from onnx import TensorProto, helper

    random = np.random.default_rng(5)
    weight = random.standard_normal((columns, terms)).astype(np.float16)
    np.savez(folder / "x.npz", **{"in:x": random.standard_normal((rows, terms)).astype(np.float32)})

    @mb.program(input_specs=[mb.TensorSpec(shape=(rows, terms))], opset_version=ct.target.iOS18)
    def program(x):
        return mb.linear(x=x, weight=weight.astype(np.float32), name="y")

    model = ct.convert(
        program,
        inputs=[ct.TensorType(name="x", shape=(rows, terms), dtype=np.float32)],
        outputs=[ct.TensorType(name="y", dtype=np.float32)],
        minimum_deployment_target=ct.target.iOS18,
        compute_precision=ct.precision.FLOAT16,
        skip_model_load=True,
    )
    save(model, folder, forms())
    for bits in (4, 8):
        blocks = terms // 32
        codes = random.integers(0, 256, (columns, blocks, 32 * bits // 8), dtype=np.uint8)
        scales = (random.random(columns * blocks) * 0.1).astype(np.float32)
        node = helper.make_node(
            "MatMulNBits", ["x", "codes", "scales"], ["y"], domain="com.microsoft", K=terms, N=columns, bits=bits,
            block_size=32, accuracy_level=1)
        graph = helper.make_graph(
            [node], "product",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, terms])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, columns])],
            [onnx.numpy_helper.from_array(codes, "codes"), onnx.numpy_helper.from_array(scales, "scales")])
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        made = helper.make_model(graph, opset_imports=opsets)
        made.ir_version = 9
        onnx.save(made, str(folder / f"int{bits}.onnx"))
    dynamic(folder, weight.astype(np.float32), rows)


def dynamic(folder, weight, rows):
    """ONNX Runtime's product with int8 weights for each column and rows that it quantises to uint8."""
    import onnx
    from onnx import TensorProto, helper
    from onnxruntime import quantization

    columns, terms = weight.shape
    node = helper.make_node("MatMul", ["x", "weight"], ["y"])
    graph = helper.make_graph(
        [node], "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, terms])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, columns])],
        [onnx.numpy_helper.from_array(np.ascontiguousarray(weight.T), "weight")])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    made.ir_version = 9
    plain = folder / "plain.onnx"
    onnx.save(made, str(plain))
    quantization.quantize_dynamic(
        str(plain), str(folder / "dynamic.onnx"), weight_type=quantization.QuantType.QInt8, per_channel=True)
    plain.unlink()
