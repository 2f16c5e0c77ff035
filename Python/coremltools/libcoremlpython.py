"""The native module of coremltools, supplied by swift-coreml."""
from swift_coreml import gates
from swift_coreml.proxies import (
    _MLComputePlanProxy,
    _MLCPUComputeDeviceProxy,
    _MLGPUComputeDeviceProxy,
    _MLModelAssetProxy,
    _MLModelProxy,
    _MLModelStructureNeuralNetworkLayerProxy,
    _MLModelStructureProgramOperationProxy,
    _MLNeuralEngineComputeDeviceProxy,
    _State,
)

gates.lift()
