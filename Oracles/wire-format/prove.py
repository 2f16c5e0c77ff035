"""prove.py DESCRIPTORS [MODEL …]: holds proto/ against coremltools and sends models through our reader and writer."""
import pathlib
import random
import sys
import tempfile

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.libmilstoragepython import _BlobStorageWriter
from coremltools.models.utils import _create_mlpackage
from coremltools.proto import Model_pb2
from google.protobuf import descriptor_pb2

from wire import difference


def facts(file):
    """The schema that determines the wire and JSON forms of a file's messages."""
    found = {}

    def note_enum(scope, enum):
        for value in enum.value:
            found[scope, enum.name, value.name] = value.number

    def note_message(scope, message):
        name = f"{scope}.{message.name}"
        found[name] = message.options.map_entry
        for field in message.field:
            oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None
            found[name, field.number] = (field.name, field.type, field.label, field.type_name, oneof)
        for inner in message.enum_type:
            note_enum(name, inner)
        for inner in message.nested_type:
            note_message(name, inner)

    for inner in file.enum_type:
        note_enum(file.package, inner)
    for inner in file.message_type:
        note_message(file.package, inner)
    return found


def compare_descriptors(path):
    ours = descriptor_pb2.FileDescriptorSet.FromString(pathlib.Path(path).read_bytes())
    theirs = {}

    def collect(file):
        if file.name not in theirs:
            theirs[file.name] = descriptor_pb2.FileDescriptorProto()
            file.CopyToProto(theirs[file.name])
            for dependency in file.dependencies:
                collect(dependency)

    collect(Model_pb2.DESCRIPTOR)
    # coremltools 9.0 carries NamedParameters, but nothing in it can import that file.
    assert {file.name for file in ours.file} - set(theirs) == {"NamedParameters.proto"}, "other files"
    count = 0
    for file in (file for file in ours.file if file.name in theirs):
        a, b = facts(file), facts(theirs[file.name])
        for key in a.keys() | b.keys():
            assert a.get(key) == b.get(key), f"{file.name}: {key}: {a.get(key)} here, {b.get(key)} in coremltools"
        count += len(a)
    print(f"descriptors: {len(theirs)} files, {count} facts, all equal")


class Filler:
    """Fills every field of a message, of each choice one member, with values of the given random numbers."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def value(self, field):
        if field.cpp_type == field.CPPTYPE_ENUM:
            return self.random.choice(field.enum_type.values).number
        if field.cpp_type == field.CPPTYPE_STRING:
            if field.type == field.TYPE_BYTES:
                return self.random.randbytes(self.random.randrange(1, 9))
            return self.random.choice(["a", "é", "層", "x" * 40, "line\nbreak"])
        if field.cpp_type == field.CPPTYPE_BOOL:
            return True
        if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
            return self.random.choice([1.5, -0.0, 1e-40, float("inf"), float("nan"), 0.1])
        low, high = {
            field.CPPTYPE_INT32: (-2**31, 2**31 - 1), field.CPPTYPE_INT64: (-2**63, 2**63 - 1),
            field.CPPTYPE_UINT32: (0, 2**32 - 1), field.CPPTYPE_UINT64: (0, 2**64 - 1),
        }[field.cpp_type]
        return self.random.choice([low, high, 1, self.random.randint(low, high)])

    def fill(self, message, depth, chosen=()):
        members = {choice.name: self.random.choice(choice.fields).name for choice in message.DESCRIPTOR.oneofs}
        members.update(chosen)
        for field in message.DESCRIPTOR.fields:
            if field.containing_oneof and members[field.containing_oneof.name] != field.name:
                continue
            target = getattr(message, field.name)
            if field.message_type and field.message_type.GetOptions().map_entry:
                key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
                for _ in range(2):
                    name = self.value(key)
                    if not value.message_type:
                        target[name] = self.value(value)
                    elif depth:
                        self.fill(target[name], depth - 1)
            elif field.message_type:
                if not depth:
                    continue
                for _ in range(2 if field.is_repeated else 1):
                    inner = target.add() if field.is_repeated else target
                    inner.SetInParent()
                    self.fill(inner, depth - 1)
            elif field.is_repeated:
                target.extend(self.value(field) for _ in range(3))
            else:
                setattr(message, field.name, self.value(field))


def filled_models():
    """For every kind of model and every kind of layer, a model with all their fields."""
    kinds = Model_pb2.Model.DESCRIPTOR.oneofs_by_name["Type"].fields
    for index, kind in enumerate(kinds):
        for seed in range(3):
            model = Model_pb2.Model()
            Filler(index * 100 + seed).fill(model, 7, {"Type": kind.name})
            yield f"{kind.name} {seed}", model
    layers = Model_pb2.NeuralNetworkLayer.DESCRIPTOR.oneofs_by_name["layer"].fields
    for index, kind in enumerate(layers):
        model = Model_pb2.Model(specificationVersion=5)
        for seed in range(3):
            Filler(index * 100 + seed).fill(model.neuralNetwork.layers.add(), 4, {"layer": kind.name})
        yield f"layer {kind.name}", model


def packages():
    """Packages with weights of every type, and programs of every opset."""
    folder = pathlib.Path(tempfile.mkdtemp())
    writer = _BlobStorageWriter(str(folder / "weight.bin"))
    values = np.array([1, 0, 1, 1, 0])
    for name in sorted(name for name in dir(writer) if name.startswith("write_")):
        for dtype in (np.float32, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32):
            try:
                getattr(writer, name)(values.astype(dtype))
                break
            except TypeError:
                continue
        else:
            raise RuntimeError(f"nothing can be written with {name}")
    del writer
    model = Model_pb2.Model(specificationVersion=9)
    model.mlProgram.version = 1
    yield "weights of every type", _create_mlpackage(model, str(folder))

    for target in (ct.target.iOS15, ct.target.iOS16, ct.target.iOS17, ct.target.iOS18, ct.target.iOS26):
        @mb.program(input_specs=[mb.TensorSpec(shape=(1, 8))], opset_version=target)
        def program(x):
            weight = np.random.default_rng(0).standard_normal((8, 8)).astype(np.float32)
            for _ in range(2):
                x = mb.relu(x=mb.matmul(x=x, y=weight))
            return mb.cond(
                pred=mb.less(x=mb.reduce_sum(x=x, axes=[0, 1]), y=1.0),
                _true_fn=lambda: mb.add(x=x, y=1.0), _false_fn=lambda: mb.concat(values=(x,), axis=1))

        for precision in (ct.precision.FLOAT16, ct.precision.FLOAT32):
            made = ct.convert(program, minimum_deployment_target=target, compute_precision=precision, skip_model_load=True)
            yield f"program {target.name} {precision.value}", made.package_path


def main():
    compare_descriptors(sys.argv[1])
    failures, count = [], 0

    def judge(name, path):
        nonlocal count
        count += 1
        if found := difference(path):
            failures.append(name)
            print(f"{name}: {found}")

    for path in sys.argv[2:]:
        judge(pathlib.Path(path).name, path)
    given = count
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.mlmodel"
        for name, model in filled_models():
            path.write_bytes(model.SerializeToString())
            judge(name, path)
    filled = count - given
    for name, path in packages():
        judge(name, path)
    print(f"models: {given} given, {filled} filled, {count - given - filled} packages; {len(failures)} differ")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
