import CoreML
import Foundation
import MLFiles

/// Compiles a `.mlmodel` or `.mlpackage` into a temporary folder; returns the path of the `.mlmodelc`.
@c(coreml_compile)
public func compile(_ path: UnsafePointer<CChar>, _ failure: Failure) -> UnsafeMutablePointer<CChar>? {
    reporting(failure) { text(try MLModel.compileModel(at: URL(fileURLWithPath: String(cString: path))).path) }
}

/// Makes a configuration from the names that coremltools uses; `hints` is a JSON dictionary of strings.
func configuration(
    _ computeUnits: UnsafePointer<CChar>,
    _ functionName: UnsafePointer<CChar>,
    _ hints: UnsafePointer<CChar>
) throws -> MLModelConfiguration {
    let configuration = MLModelConfiguration()
    switch String(cString: computeUnits) {
    case "CPU_ONLY": configuration.computeUnits = .cpuOnly
    case "CPU_AND_GPU": configuration.computeUnits = .cpuAndGPU
    case "CPU_AND_NE": configuration.computeUnits = .cpuAndNeuralEngine
    default: configuration.computeUnits = .all
    }
    let name = String(cString: functionName)
    if !name.isEmpty { configuration.functionName = name }
    let hints = try JSONDecoder().decode([String: String].self, from: Data(String(cString: hints).utf8))
    configuration.allowLowPrecisionAccumulationOnGPU = hints["allowLowPrecisionAccumulationOnGPU"] == "True"
    if hints["reshapeFrequency"] == "Infrequent" { configuration.optimizationHints.reshapeFrequency = .infrequent }
    if hints["specializationStrategy"] == "FastPrediction" {
        configuration.optimizationHints.specializationStrategy = .fastPrediction
    }
    return configuration
}

/// Loads a model and returns its handle.
///
/// `computeUnits` is coremltools' name of a choice, `functionName` is empty for the default function, and `hints` is a
/// JSON dictionary of strings.
@c(coreml_model_load)
public func loadModel(
    _ path: UnsafePointer<CChar>,
    _ computeUnits: UnsafePointer<CChar>,
    _ functionName: UnsafePointer<CChar>,
    _ hints: UnsafePointer<CChar>,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        handle(
            try MLModel(
                contentsOf: URL(fileURLWithPath: String(cString: path)),
                configuration: configuration(computeUnits, functionName, hints)
            )
        )
    }
}

/// Predicts the outputs for one table of inputs, and returns a table; `state` may be `nil`.
@c(coreml_model_predict)
public func predict(
    _ model: UnsafeMutableRawPointer,
    _ features: UnsafeMutableRawPointer,
    _ state: UnsafeMutableRawPointer?,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        let model = object(model, as: MLModel.self)
        let inputs = try object(features, as: FeatureTable.self).provider(for: model)
        let outputs: any MLFeatureProvider
        if let state {
            outputs = try model.prediction(from: inputs, using: object(state, as: MLState.self))
        } else {
            outputs = try model.prediction(from: inputs)
        }
        return handle(FeatureTable(outputs))
    }
}

/// Predicts the outputs for `count` tables; the handles of the resulting tables go to `answers`.
@c(coreml_model_predict_batch)
public func predictBatch(
    _ model: UnsafeMutableRawPointer,
    _ features: UnsafePointer<UnsafeMutableRawPointer>,
    _ count: Int,
    _ answers: UnsafeMutablePointer<UnsafeMutableRawPointer>,
    _ failure: Failure
) -> Bool {
    reporting(failure) {
        let model = object(model, as: MLModel.self)
        let inputs = try (0..<count).map { try object(features[$0], as: FeatureTable.self).provider(for: model) }
        let outputs = try model.predictions(fromBatch: MLArrayBatchProvider(array: inputs))
        for index in 0..<outputs.count { answers[index] = handle(FeatureTable(outputs.features(at: index))) }
        return true
    } ?? false
}

/// Makes a state of a stateful model, with all buffers zero, and returns its handle.
@c(coreml_state_new)
public func newState(_ model: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    handle(object(model, as: MLModel.self).makeState())
}

/// Copies a state's buffer, and returns a table with it as the feature `name`.
@c(coreml_state_read)
public func readState(
    _ state: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        let name = String(cString: name)
        let table = FeatureTable()
        try object(state, as: MLState.self).checked(name).withMultiArray(for: name) { value in
            let copy = try MLMultiArray(shape: value.shape, dataType: value.dataType)
            value.transfer(to: copy)
            table.values[name] = MLFeatureValue(multiArray: copy)
        }
        return handle(table)
    }
}

/// Overwrites a state's buffer with the feature `name` of a table.
@c(coreml_state_write)
public func writeState(
    _ state: UnsafeMutableRawPointer,
    _ name: UnsafePointer<CChar>,
    _ features: UnsafeMutableRawPointer,
    _ failure: Failure
) -> Bool {
    reporting(failure) {
        let name = String(cString: name)
        guard let source = object(features, as: FeatureTable.self).values[name]?.multiArrayValue else {
            throw BorderError.feature(name)
        }
        try object(state, as: MLState.self).checked(name).withMultiArray(for: name) { value in
            guard value.shape == source.shape else { throw BorderError.stateShape(name, value.shape, source.shape) }
            source.transfer(to: value)
        }
        return true
    } ?? false
}

/// Lowers the version of an encoded specification to the oldest one that the model fits.
///
/// Returns the new bytes, which the caller frees with `coreml_free`; their number goes to `resultByteCount`.
@c(coreml_specification_lowered)
public func loweredSpecification(
    _ specification: UnsafeRawPointer,
    _ byteCount: Int,
    _ resultByteCount: UnsafeMutablePointer<Int>,
    _ failure: Failure
) -> UnsafeMutableRawPointer? {
    reporting(failure) {
        let lowered = try SpecificationVersion.lowered(
            [UInt8](UnsafeRawBufferPointer(start: specification, count: byteCount))
        )
        guard let result = malloc(max(lowered.count, 1)) else { throw BorderError.memory(lowered.count) }
        lowered.withUnsafeBytes { bytes in
            if let source = bytes.baseAddress { result.copyMemory(from: source, byteCount: bytes.count) }
        }
        resultByteCount.pointee = lowered.count
        return result
    }
}

extension MLState {
    /// The state itself; throws when it has no buffer of this name.
    fileprivate func checked(_ name: String) throws -> MLState {
        guard names.contains(name) else { throw BorderError.stateName(name, names) }
        return self
    }
}
