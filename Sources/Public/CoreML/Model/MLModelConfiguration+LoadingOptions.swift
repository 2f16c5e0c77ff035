import Foundation
import MLEngine
import MLKernels

extension MLModelConfiguration {
    /// The settings that loading takes from `parameters`; keys that concern updates alone are left out.
    func loadingOptions() throws -> LoadingOptions {
        var result = LoadingOptions(
            catalogue: CustomLayerClasses.catalogue(),
            customModels: CustomModelClasses()
        )
        if allowLowPrecisionAccumulationOnGPU, let low = result.kernels.lowPrecision { result.kernels = low }
        for (key, value) in parameters ?? [:] {
            switch key.name {
            case MLParameterKey.numberOfNeighbors.name:
                guard let number = (value as? NSNumber)?.int64Value ?? (value as? Int).map(Int64.init) else {
                    throw Self.typeMismatch(key, value, "an integer")
                }
                result.parameters.append(LoadingOptions.Parameter(.numberOfNeighbors(number), scope: key.scope))
            case MLParameterKey.linkedModelFileName.name:
                guard let text = value as? String else { throw Self.typeMismatch(key, value, "a string") }
                result.parameters.append(LoadingOptions.Parameter(.linkedModelFileName(text), scope: key.scope))
            case MLParameterKey.linkedModelSearchPath.name:
                guard let text = value as? String else { throw Self.typeMismatch(key, value, "a string") }
                result.parameters.append(LoadingOptions.Parameter(.linkedModelSearchPath(text), scope: key.scope))
            default: break
            }
        }
        return result
    }

    private static func typeMismatch(_ key: MLParameterKey, _ value: Any, _ wanted: String) -> MLModelError {
        MLModelError(.parameters, "The parameter \(key) is \(value), but it takes \(wanted).")
    }
}
