"""The operations in the zoo's files: MIL operations by opset, neural-network layers by kind."""
import json
from collections import Counter

NETWORKS = ("neuralNetwork", "neuralNetworkClassifier", "neuralNetworkRegressor")


def uses(specification):
    """`{"opset": …, "operations": {name: count}}` of an ML program, `{"layers": {kind: count}}` of a neural network."""
    kind = specification.WhichOneof("Type")
    counts = Counter()
    if kind == "mlProgram":
        opsets = set()
        for function in specification.mlProgram.functions.values():
            opsets.add(function.opset)
            count_operations(function.block_specializations[function.opset], counts)
        return {"opset": "+".join(sorted(opsets)), "operations": dict(sorted(counts.items()))}
    if kind in NETWORKS:
        count_layers(getattr(specification, kind), counts)
        return {"layers": dict(sorted(counts.items()))}
    return {}


def count_operations(block, counts):
    for operation in block.operations:
        counts[operation.type] += 1
        for nested in operation.blocks:
            count_operations(nested, counts)


def count_layers(network, counts):
    for layer in network.layers:
        kind = layer.WhichOneof("layer")
        counts[kind] += 1
        parameters = getattr(layer, kind)
        for body in ("ifBranch", "elseBranch", "conditionNetwork", "bodyNetwork"):
            if body in parameters.DESCRIPTOR.fields_by_name and parameters.HasField(body):
                count_layers(getattr(parameters, body), counts)


def write(output):
    """Writes INDEX.txt and OPS.txt beside the networks that are done."""
    index, operations, everything = [], [], {"operations": Counter(), "layers": Counter()}
    for file in sorted(output.glob("*/facts.json"), key=lambda path: path.stat().st_mtime):
        facts = json.loads(file.read_text())
        for form, entry in facts["forms"].items():
            if "missing" in entry:
                index.append(f"{facts['name']}/{form}  MISSING  {entry['missing']}")
                continue
            index.append(f"{facts['name']}/{form}")
            for sort, counts in entry["uses"].items():
                if sort == "opset":
                    continue
                everything[sort].update(counts)
                listed = ", ".join(f"{name} {count}" for name, count in counts.items())
                operations.append(f"{facts['name']}/{form} ({entry['uses'].get('opset', 'layers')}): {listed}")
    total = [f"all {sort}: " + ", ".join(f"{name} {count}" for name, count in counts.most_common())
             for sort, counts in everything.items()]
    (output / "INDEX.txt").write_text("\n".join(index) + "\n")
    (output / "OPS.txt").write_text("\n".join(total + operations) + "\n")
