"""The structure of a compiled model, as the data classes of `coremltools.models.compute_plan`."""
import json
import os

from .library import call


def load(path):
    return _model(json.loads(call("structure", os.fsencode(path))))


def load_with_costs(path, compute_units):
    """The same; the proxies of operations carry their share in the program's work."""
    return _model(json.loads(call("compute_plan", os.fsencode(path), compute_units.encode())))


def _model(text):
    from coremltools.models import compute_plan as parts

    from .proxies import _MLModelStructureNeuralNetworkLayerProxy
    network = program = pipeline = None
    if "layers" in text:
        network = parts.MLModelStructureNeuralNetwork([
            parts.MLModelStructureNeuralNetworkLayer(
                layer["name"], layer["type"], layer["inputs"], layer["outputs"],
                _MLModelStructureNeuralNetworkLayerProxy())
            for layer in text["layers"]])
    elif "functions" in text:
        program = parts.MLModelStructureProgram({
            name: parts.MLModelStructureProgramFunction(
                _named(parts, function["inputs"]), _block(parts, function["block"]))
            for name, function in text["functions"].items()})
    elif "models" in text:
        pipeline = parts.MLModelStructurePipeline([(part["name"], _model(part["model"])) for part in text["models"]])
    return parts.MLModelStructure(network, program, pipeline)


def _named(parts, names):
    return [parts.MLModelStructureProgramNamedValueType(name, parts.MLModelStructureProgramValueType())
            for name in names]


def _argument(parts, bindings):
    return parts.MLModelStructureProgramArgument([
        parts.MLModelStructureProgramBinding(name, None if name else parts.MLModelStructureProgramValue())
        for name in bindings])


def _block(parts, block):
    from .proxies import _MLModelStructureProgramOperationProxy
    operations = [
        parts.MLModelStructureProgramOperation(
            {name: _argument(parts, bindings) for name, bindings in operation["inputs"].items()},
            operation["name"], _named(parts, operation["outputs"]),
            [_block(parts, nested) for nested in operation["blocks"]],
            _MLModelStructureProgramOperationProxy(operation.get("cost")))
        for operation in block["operations"]]
    return parts.MLModelStructureProgramBlock(_named(parts, block["inputs"]), operations, block["outputs"])
