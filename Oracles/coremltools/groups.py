"""The groups into which coremltools' own tests are divided."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Group:
    name: str
    paths: tuple
    """Folders and files below coremltools' own."""
    sampled: bool = True
    """Whether one case of each test function and backend runs when not everything is asked for."""
    left_out: str = ""
    """The tests that are excluded even then: an expression of pytest's -k."""
    environment: str = "all"
    """The set of packages of Oracles/Shared/environment that is needed."""
    meaning: str = ""
    variables: dict = dataclasses.field(default_factory=dict)
    """More of the environment."""


GROUPS = {group.name: group for group in (
    Group(
        "nn", ("test/neural_network",), sampled=False, environment="suite",
        # They make hundreds to thousands of models each, of kinds that other tests cover.
        left_out="not stress and not conv3d_cpu_slow and not conv3d_gpu_slow and not test_pool3d and not random_normal_like",
        meaning="layers of neural networks",
        # With wide vectors NumPy's argsort does not keep the order of equal numbers, which the tests of topK rely on.
        variables={"NPY_DISABLE_CPU_FEATURES":
                   "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR AVX2 FMA3"}),
    Group(
        "sklearn", ("test/sklearn_tests",), sampled=False, environment="classic", meaning="models of scikit-learn",
        # They fit, write and load hundreds of models each, of the kinds that the others cover, for minutes.
        left_out="not stress"),
    Group(
        "xgboost", ("test/xgboost_tests",), sampled=False, environment="classic", meaning="boosted trees",
        # As above.
        left_out="not stress"),
    Group("pipeline", ("test/pipeline",), sampled=False, environment="classic", meaning="pipelines, updatable models"),
    Group("misc", (
        "test/api", "test/modelpackage", "test/ml_program", "test/blob", "converters/mil/backend",
        "converters/mil/mil/tests", "converters/mil/frontend/milproto", "converters/mil/test_inputs_outputs_shape.py"),
        sampled=False, environment="extended", meaning="API, packages, compute plans, shapes"),
    Group(
        "milops", ("converters/mil/mil/ops/tests",), environment="suite",
        # It makes no model, and fails where the machine is busy: the conversion must take less than 10 ms.
        left_out="not test_efficient_type_inference", meaning="operations of ML programs"),
    Group("coreml_opt", ("test/optimize/coreml",), environment="extended", meaning="compressed models"),
    Group(
        "passes", ("converters/mil/mil/passes", "converters/mil/experimental"), environment="extended",
        meaning="programs rewritten by coremltools' passes"),
    Group("torch", ("converters/mil/frontend/torch/test",), environment="extended", meaning="PyTorch's operators"),
    Group("tf", (
        "converters/mil/frontend/tensorflow/test", "converters/mil/frontend/tensorflow2/test",
        "test/neural_network/test_tf_numeric.py"),
        environment="tensorflow", meaning="TensorFlow's operators"),
)}

CONTINUOUS = ("nn", "milops", "sklearn", "xgboost", "pipeline")
"""The groups of every submission."""
