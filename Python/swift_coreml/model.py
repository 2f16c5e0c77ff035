"""Core ML models without coremltools."""
from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable, Optional, Union

from . import native, slots, updating
from .batches import Answers, Batch, columns_of
from .elements import np
from .errors import FeatureError, UpdateError
from .frames import Frame
from .interface import Feature, Interface, Metadata, Parameter
from .slots import Words

if TYPE_CHECKING:
    import concurrent.futures

Path = Union[str, "os.PathLike[str]"]
Features = Mapping[str, Any]


def set_threads(count: Optional[int]) -> int:
    """Limits the threads that share the work of one prediction or batch, for all models of the process.

    `None` stands for all processors, and so does what holds before the first call unless the environment's
    `COREML_THREADS` says otherwise.  Returns the number that holds now.

    >>> import swift_coreml
    >>> swift_coreml.set_threads(1)
    1
    """
    if count is not None and count < 1:
        raise ValueError(f"set_threads takes a number from 1, or None for all processors; {count} is neither")
    return int(native.call("workers", 0 if count is None else count))


@functools.lru_cache(maxsize=None)
def _executor() -> "concurrent.futures.ThreadPoolExecutor":
    import concurrent.futures
    return concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="swift_coreml")


class State(Mapping[str, "np.ndarray[Any, Any]"]):
    """The state that a stateful model keeps from one prediction to the next; `Model.make_state` makes one.

    Its buffers are read and replaced by name: `state["cache"]` is a copy, and `state["cache"] = array` writes.
    """

    def __init__(self, model: "Model"):
        self._handle = native.Handle(native.call("state_new", model._model.address))
        self._features = model.states

    def _feature(self, name: str) -> Feature:
        if name not in self._features:
            raise FeatureError(f"the model has no state '{name}'; its states are {list(self._features)}")
        return self._features[name]

    def __getitem__(self, name: str) -> "np.ndarray[Any, Any]":
        feature = self._feature(name)
        array = np.empty(feature.shape or (), feature.dtype)
        words = Words(1)
        words.integers[0], words.integers[1], words.integers[2] = slots.ARRAY, array.ctypes.data, array.nbytes
        native.call("state_get", self._handle.address, name.encode(), words.address)
        return array

    def __setitem__(self, name: str, value: Any) -> None:
        words, keep = Words(1), list[Any]()
        array = slots.as_array(self._feature(name), value)
        extents = (ctypes.c_int64 * array.ndim)(*array.shape)
        keep += [array, extents]
        slots.set_array(words.integers, 0, array, extents)
        native.call("state_set", self._handle.address, name.encode(), words.address)

    def __iter__(self) -> Any:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)


class Model:
    """A loaded model; any number of threads may use it at the same time.

    `path` is a `.mlmodel` file, a `.mlpackage` or a compiled `.mlmodelc` folder; `function` names a function of an ML
    program that has several; `parameters` are set as Core ML's configuration sets them (`{"numberOfNeighbors": 3}`).
    `precision="low"` rounds the factors of products with half-precision weights to bfloat16 where the processor has matrix
    tiles (AMX), which is several times as fast; `"full"` multiplies exactly.

    >>> import swift_coreml
    >>> model = swift_coreml.Model("Digits.mlmodel")
    >>> print(model.inputs["image"])
    image : Image (Grayscale, 28 × 28)
    >>> model.predict({"image": "held-out/7-0.png"})["digit"]
    '7'

    Arrays are NumPy's (or whatever NumPy takes for one: lists, buffers, tensors on the processor), images Pillow's, arrays of
    `uint8`, or the bytes or the path of an image file, which is turned upright and scaled to the model's size;
    numbers, strings, dictionaries and lists are Python's.  While the model works, other threads of Python run.
    """

    def __init__(
        self, path: Path, *, function: Optional[str] = None, parameters: Optional[Mapping[str, Any]] = None,
        precision: str = "full",
    ):
        if precision not in ("full", "low"):
            raise ValueError(f"precision is 'full' or 'low', not {precision!r}")
        self._path: Optional[str] = os.fspath(path)
        self._function, self._parameters, self._precision = function, dict(parameters or {}), precision
        self._open(native.call(
            "model_open", os.fsencode(self._path),
            native.options(
                function=function, parameters=self._parameters or None,
                lowPrecision=True if precision == "low" else None)))

    @classmethod
    def _of(cls, handle: int, original: "Model") -> "Model":
        model = cls.__new__(cls)
        model._path, model._function, model._parameters = None, original._function, original._parameters
        model._precision = original._precision
        model._open(handle)
        return model

    def _open(self, handle: int) -> None:
        self._model = native.Handle(handle)
        self._interface = Interface(native.call_text("model_interface", self._model.address))
        self._frames: list[Frame] = []

    def __repr__(self) -> str:
        return f"<Model {self._path or 'from an update'}: {', '.join(self.inputs)} → {', '.join(self.outputs)}>"

    def __reduce__(self) -> Any:
        if self._path is None:
            raise UpdateError("a model that an update made is not pickled; save it and pickle Model(path)")
        return _reopened, (os.path.abspath(self._path), self._function, self._parameters, self._precision)

    @property
    def path(self) -> Optional[str]:
        """The path that the model was loaded from; `None` for the result of an update that was not saved."""
        return self._path

    @property
    def inputs(self) -> dict[str, Feature]:
        """The inputs by name, in the model's order."""
        return self._interface.inputs

    @property
    def outputs(self) -> dict[str, Feature]:
        """The outputs by name, in the model's order."""
        return self._interface.outputs

    @property
    def states(self) -> dict[str, Feature]:
        """The states by name; none for most models."""
        return self._interface.states

    @property
    def training_inputs(self) -> dict[str, Feature]:
        """The features of an update's examples by name; none for models that cannot be updated."""
        return self._interface.training_inputs

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters of an update by name; none for models that cannot be updated."""
        return self._interface.parameters

    @property
    def metadata(self) -> Metadata:
        """The author's metadata of the model.

        >>> import swift_coreml
        >>> swift_coreml.Model("Digits.mlmodel").metadata.license
        'Apache-2.0'
        """
        return self._interface.metadata

    @property
    def class_labels(self) -> Optional[list[Any]]:
        """A classifier's labels; `None` for models that do not classify."""
        return self._interface.class_labels

    @property
    def predicted_feature(self) -> Optional[str]:
        """The output with the predicted label or number."""
        return self._interface.predicted_feature

    @property
    def predicted_probabilities(self) -> Optional[str]:
        """A classifier's output with the probability of each label."""
        return self._interface.predicted_probabilities

    @property
    def is_updatable(self) -> bool:
        """Whether `update` can train the model further."""
        return self._interface.is_updatable

    def make_state(self) -> State:
        """A state with all buffers zero, for a sequence of predictions."""
        return State(self)

    def predict(
        self, features: Features, *, state: Optional[State] = None, outputs: Optional[Mapping[str, Any]] = None,
    ) -> dict[str, Any]:
        """The outputs for one example.

        Optional inputs may be left out or `None`.  `outputs` gives arrays of NumPy or buffers to write outputs to, by name:
        with the output's type and shape, row-major, the model writes to them directly; a buffer of one axis (`array.array`)
        takes the elements of any shape.  Raises `FeatureError` for a value that does not fit.
        """
        handle = self._state(state)
        try:
            frame = self._frames.pop()
        except IndexError:
            frame = Frame(self._model, self._interface)
        try:
            return frame.predict(features, handle, outputs, None)
        finally:
            self._frames.append(frame)

    @staticmethod
    def _state(state: Optional[State]) -> Optional[int]:
        if state is None:
            return None
        if not isinstance(state, State):
            raise FeatureError(f"the state is a {type(state).__name__}; pass one that make_state() made")
        address: int = state._handle.address
        return address

    __call__ = predict

    async def predict_async(
        self, features: Features, *, state: Optional[State] = None, outputs: Optional[Mapping[str, Any]] = None,
    ) -> dict[str, Any]:
        """`predict` on a thread of this package, for `asyncio`.

        When the task is cancelled, the prediction stops between two steps of the model, and the cancellation is passed
        on when it has stopped.

        >>> import asyncio, swift_coreml
        >>> model = swift_coreml.Model("Digits.mlmodel")
        >>> asyncio.run(model.predict_async({"image": "held-out/3-1.png"}))["digit"]
        '3'
        """
        handle = self._state(state)

        def work(cancellation: int) -> dict[str, Any]:
            frame = Frame(self._model, self._interface)
            return frame.predict(features, handle, outputs, cancellation)
        answer: dict[str, Any] = await self._in_background(work)
        return answer

    def predict_batch(self, batch: Any) -> Any:
        """The outputs for many examples, in one call that is spread over the processors.

        A list of dictionaries gives a list of dictionaries.  Columns (a dictionary of arrays and lists, or a frame of
        pandas, polars or Arrow) give a dictionary of columns: arrays, lists of strings, and `Scores` for the
        probabilities of a classifier.  The message of a `FeatureError` says which example it is about.

        >>> import swift_coreml
        >>> model = swift_coreml.Model("Digits.mlmodel")
        >>> model.predict_batch({"image": ["held-out/4-0.png", "held-out/8-0.png"]})["digit"]
        ['4', '8']
        """
        return self._batch(batch, None)

    async def predict_batch_async(self, batch: Any) -> Any:
        """`predict_batch` on a thread of this package, for `asyncio`; it is cancelled as `predict_async` is."""
        return await self._in_background(functools.partial(self._batch, batch))

    def _batch(self, batch: Any, cancellation: Optional[int]) -> Any:
        columns = columns_of(batch)
        if columns is not None:
            return self._answers(Batch.of_columns(self._interface, columns), cancellation).columns()
        if isinstance(batch, (str, bytes)) or not isinstance(batch, Iterable):
            raise FeatureError(
                f"a batch is a list of dicts, a dict of columns or a frame; a {type(batch).__name__} is neither")
        return list(self._answers(Batch.of_rows(self._interface, list(batch)), cancellation).rows())

    def _answers(self, batch: Batch, cancellation: Optional[int]) -> Answers:
        return batch.predict(self._model, self._interface, cancellation)

    @staticmethod
    async def _in_background(work: Callable[[int], Any]) -> Any:
        import asyncio      # costs 20 ms, which those who do not wait need not
        cancellation = native.Handle(native.call("cancellation_new"))
        future = asyncio.get_running_loop().run_in_executor(_executor(), work, cancellation.address)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            native.call("cancellation_cancel", cancellation.address)
            if not future.done():
                await asyncio.wait([future])
            if not future.cancelled():
                future.exception()              # has been seen
            raise

    def update(
        self, examples: Any, *, parameters: Optional[Mapping[str, Any]] = None,
        progress: Optional[Callable[["updating.Event"], None]] = None, events: Iterable[str] = ("epoch_end",),
    ) -> "Model":
        """A model that was trained further with `examples`, a list of dictionaries or columns; this one stays as it is.

        `parameters` are those of the update (`model.parameters` has their names and limits).  `progress` is called for
        each of the `events` (`training_begin`, `mini_batch_end`, `epoch_end`) while the update waits; see
        `updating.Event`.  What it raises ends the update and is raised here, and so does Control-C.
        """
        return updating.update(self, examples, dict(parameters or {}), progress, tuple(events))

    def save(self, path: Path) -> None:
        """Saves the result of an update as `.mlmodel`, `.mlpackage`, or, for other names, a compiled folder.

        An existing model is replaced when the new one is complete.
        """
        native.call("model_save", self._model.address, os.fsencode(path))
        self._path = os.fspath(path)

    def plan(self, features: Optional[Features] = None) -> "Plan":
        """The steps that a prediction takes, for these inputs or for the model's default shapes.

        >>> import swift_coreml
        >>> any("conv" in step.operation for step in swift_coreml.Model("Digits.mlmodel").plan().steps)
        True
        """
        return self._plan(features, 0)

    def profile(self, features: Optional[Features] = None, *, runs: int = 20) -> "Plan":
        """The steps with their times: each the median of so many predictions."""
        if runs < 1:
            raise ValueError(f"profile takes a number of runs from 1, not {runs}")
        return self._plan(features, runs)

    def _plan(self, features: Optional[Features], runs: int) -> "Plan":
        if features is None:
            return Plan(native.call_text("model_plan", self._model.address, None, runs))
        batch = Batch.of_rows(self._interface, [features])
        return Plan(native.call_text("model_plan", self._model.address, batch._words.address, runs))


class Step:
    """A step of a plan: an operation, the kernel that computes it, its results' shapes, and where it comes from."""

    def __init__(self, entry: dict[str, Any]):
        self.operation: str = entry["operation"]
        self.kernel: str = entry["kernel"]
        self.shapes: list[tuple[int, ...]] = [tuple(shape) for shape in entry["shapes"]]
        self.source: str = entry["source"]
        self.milliseconds: Optional[float] = entry.get("milliseconds")

    def __repr__(self) -> str:
        time = "" if self.milliseconds is None else f"{self.milliseconds:.4f} ms "
        return f"<{time}{self.operation} {self.kernel} {self.shapes} {self.source}>"


class Plan:
    """The steps of a prediction and the memory that they share."""

    def __init__(self, text: dict[str, Any]):
        self.steps = [Step(entry) for entry in text["steps"]]
        self.arena_bytes: int = text["arenaBytes"]
        self.scratch_bytes: int = text["scratchBytes"]

    @property
    def milliseconds(self) -> float:
        """The sum of the steps' times; 0 for a plan that was not profiled."""
        return sum(step.milliseconds or 0 for step in self.steps)

    def __repr__(self) -> str:
        return f"<Plan of {len(self.steps)} steps>"


def _reopened(path: str, function: Optional[str], parameters: Mapping[str, Any], precision: str = "full") -> Model:
    return Model(path, function=function, parameters=parameters, precision=precision)


__all__ = ["Feature", "Metadata", "Model", "Parameter", "Plan", "State", "Step", "set_threads"]
