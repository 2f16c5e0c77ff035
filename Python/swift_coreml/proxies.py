"""The classes of `coremltools.libcoremlpython`."""
import contextlib
import os
import shutil
import tempfile
import time

from . import structure
from .library import Handle, c_char_p, c_void_p, call, json_bytes, sizes, take_bytes
from .values import Features

NEWEST_SPECIFICATION = 10
"""The newest specification version that is read."""


def _expect(condition, message):
    if not condition:
        raise TypeError(message)


@contextlib.contextmanager
def _naming_dropped(tables):
    """Lets an error say which values were lists: the model only misses them."""
    try:
        yield
    except RuntimeError as error:
        names = sorted({name for table in tables for name in table.dropped})
        if not names:
            raise
        advice = ", ".join(f"np.array({name})" for name in names)
        raise RuntimeError(f"{error}\nLists and tuples are no feature values; pass {advice}.") from None


class _State:
    """The state of a stateful model."""

    def __init__(self, handle):
        self._handle = handle

    def read_state(self, name):
        features = Features(call("state_read", self._handle.address, name.encode()))
        return features.dictionary()[name]

    def write_state(self, name, value):
        features = Features()
        try:
            if not hasattr(value, "shape"):
                raise RuntimeError(f"'{name}' is a {type(value).__name__}; pass np.array(value, np.float16)")
            features.set(name, value)
        except RuntimeError as error:
            raise RuntimeError(f"Failed to write state, only multi-array value is supported: {error}") from None
        call("state_write", self._handle.address, name.encode(), features.address)


class _MLModelAssetProxy:
    """The parts of a model, not loaded yet."""

    def __init__(self, handle):
        self._handle = handle


class _MLModelProxy:
    """A loaded model."""

    def __init__(self, path, compute_units, function_name, optimization_hints, asset=None):
        for value, kind in ((path, str), (compute_units, str), (function_name, str), (optimization_hints, dict)):
            _expect(isinstance(value, kind), f"_MLModelProxy: {value!r} is not a {kind.__name__}")
        _expect(asset is None or isinstance(asset, _MLModelAssetProxy), "_MLModelProxy: asset of a wrong type")
        self._temporary, self._compiled, self._predicting = None, None, None
        choices = (compute_units.encode(), function_name.encode(), json_bytes(optimization_hints))
        if asset is None:
            self._compiled = path if path.rstrip("/").endswith(".mlmodelc") else self._compile(path)
            started = time.perf_counter_ns()
            self._model = Handle(call("model_load", os.fsencode(self._compiled), *choices))
        else:
            started = time.perf_counter_ns()
            self._model = Handle(call("asset_load", asset._handle.address, *choices))
        self._loading = time.perf_counter_ns() - started

    def _compile(self, path):
        try:
            self._temporary = _MLModelProxy.compileModel(path)
        except RuntimeError as error:
            raise RuntimeError(f'Error compiling model: "{error}".') from None
        return self._temporary

    def __del__(self):
        if getattr(self, "_temporary", None):
            shutil.rmtree(self._temporary, ignore_errors=True)
            folder = os.path.dirname(self._temporary)
            if os.path.realpath(folder) != os.path.realpath(tempfile.gettempdir()):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass            # something else lives there

    def predict(self, features, state=None):
        _expect(isinstance(features, dict), "predict: the features must be a dictionary")
        inputs = Features.of(features)
        started = time.perf_counter_ns()
        with _naming_dropped([inputs]):
            answer = call(
                "model_predict", self._model.address, inputs.address, None if state is None else state._handle.address)
        self._predicting = time.perf_counter_ns() - started
        return Features(answer).dictionary()

    def batchPredict(self, batch):
        _expect(isinstance(batch, list), "batchPredict: the batch must be a list")
        inputs = [Features.of(features) for features in batch]
        answers = (c_void_p * len(inputs))()
        started = time.perf_counter_ns()
        with _naming_dropped(inputs):
            call("model_predict_batch", self._model.address, (c_void_p * len(inputs))(*[i.address for i in inputs]),
                 len(inputs), answers)
        self._predicting = time.perf_counter_ns() - started
        return [Features(answer).dictionary() for answer in answers]

    def newState(self):
        return _State(Handle(call("state_new", self._model.address)))

    def get_compiled_model_path(self):
        return self._compiled

    def get_load_duration_in_nano_seconds(self):
        return self._loading

    def get_last_predict_duration_in_nano_seconds(self):
        return self._predicting

    @staticmethod
    def maximum_supported_specification_version():
        return NEWEST_SPECIFICATION

    @staticmethod
    def auto_set_specification_version(data):
        _expect(isinstance(data, bytes), "auto_set_specification_version: the specification must be bytes")
        count = sizes(count=1)
        return take_bytes(call("specification_lowered", data, len(data), count), count[0])

    @staticmethod
    def compileModel(path):
        return call("compile", os.fsencode(path))

    @staticmethod
    def create_model_asset_from_path(path):
        from coremltools.models.model import MLModelAsset
        return MLModelAsset(_MLModelAssetProxy(Handle(call("asset_from_path", os.fsencode(path)))))

    @staticmethod
    def create_model_asset_from_memory(specification, blobs):
        from coremltools.models.model import MLModelAsset
        _expect(isinstance(specification, bytes), "create_model_asset_from_memory: the specification must be bytes")
        files = list(blobs.values())
        address = call(
            "asset_from_memory", specification, len(specification), json_bytes(list(blobs)),
            (c_char_p * len(files))(*files), sizes([len(file) for file in files]), len(files))
        return MLModelAsset(_MLModelAssetProxy(Handle(address)))

    @staticmethod
    def get_available_compute_devices():
        return _devices()

    @staticmethod
    def get_all_compute_devices():
        return _devices()

    @staticmethod
    def get_model_structure(path):
        return structure.load(path)

    @staticmethod
    def get_compute_plan(path, compute_units):
        from coremltools.models.compute_plan import MLComputePlan
        return MLComputePlan(_MLComputePlanProxy.of(path, compute_units))


class _MLCPUComputeDeviceProxy:
    """The processor."""


class _MLGPUComputeDeviceProxy:
    """A graphics processor; there is none here."""


class _MLNeuralEngineComputeDeviceProxy:
    """A neural engine; there is none here."""

    def get_total_core_count(self):
        return 0


def _devices():
    from coremltools.models.compute_device import MLCPUComputeDevice
    return [MLCPUComputeDevice(_MLCPUComputeDeviceProxy())]


class _MLModelStructureProgramOperationProxy:
    """Stands for an operation in questions to a compute plan; `cost` is its share in the program's work, if it has one."""

    def __init__(self, cost=None):
        self.cost = cost


class _MLModelStructureNeuralNetworkLayerProxy:
    """Stands for a layer in questions to a compute plan."""


class _MLComputePlanProxy:
    """The compute devices of a model's parts: all on the processor."""

    _structure = None

    @classmethod
    def of(cls, path, compute_units):
        plan = cls()
        plan._structure = structure.load_with_costs(path, compute_units)
        return plan

    @property
    def model_structure(self):
        return self._structure

    def get_compute_device_usage_for_mlprogram_operation(self, operation):
        return None if operation.operator_name == "const" else self._usage()

    def get_compute_device_usage_for_neuralnetwork_layer(self, layer):
        return self._usage()

    def get_estimated_cost_for_mlprogram_operation(self, operation):
        from coremltools.models.compute_plan import MLComputePlanCost
        cost = operation.__proxy__.cost
        return None if cost is None else MLComputePlanCost(cost)

    @staticmethod
    def _usage():
        from coremltools.models.compute_plan import MLComputePlanDeviceUsage
        processor = _devices()[0]
        return MLComputePlanDeviceUsage(
            preferred_compute_device=processor, supported_compute_devices=[processor])
