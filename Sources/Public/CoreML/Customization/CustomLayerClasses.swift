import Foundation
import MLNumerics
import MLOperators
import MLSpecification
import Synchronization

/// The app's classes of custom layers, by the names that model files use.
///
/// A file names an Objective-C class. Swift classes on Linux have no such names, so a class is looked up, in this
/// order, by the name that it was registered under, by its full name `Module.Class`, and by its name in the module of
/// the main executable.
package enum CustomLayerClasses {
    private static let registered = Mutex<[String: Entry]>([:])

    /// A registered class.
    ///
    /// `@unchecked Sendable`: types never change.
    private struct Entry: @unchecked Sendable {
        let type: any MLCustomLayer.Type
    }

    /// Registers `type` as the class that files call `name`.
    package static func register(_ type: any MLCustomLayer.Type, as name: String) {
        let entry = Entry(type: type)
        registered.withLock { $0[name] = entry }
    }

    static func named(_ name: String) throws(ModelError) -> any MLCustomLayer.Type {
        if let entry = registered.withLock({ $0[name] }) { return entry.type }
        if let type = AppClasses.named(name) as? any MLCustomLayer.Type { return type }
        throw ModelError(
            .customLayer,
            "the custom layer's class '\(name)' is not known; call CustomLayers.register(\(name).self, as: \"\(name)\") "
                + "of CoreMLExtras before loading the model"
        )
    }

    /// The operators including custom layers, for one model; each layer has one object, however often it is read.
    static func catalogue() -> Catalogue {
        let objects = CustomLayerObjects()
        return Catalogue.standard.addingCustomLayers { layer, parameters throws(ModelError) in
            try objects.object(for: layer, parameters)
        }
    }
}

/// The objects of one model's custom layers.
private final class CustomLayerObjects: Sendable {
    private let objects = Mutex<[String: CustomLayerObject]>([:])

    func object(
        for layer: SpecNeuralNetworkLayer,
        _ parameters: SpecCustomLayerParams
    ) throws(ModelError) -> any CustomLayerBody {
        let key = ([layer.name] + layer.output).joined(separator: "\n")
        if let known = objects.withLock({ $0[key] }) { return known }
        let created = try CustomLayerObject(parameters)
        return objects.withLock { objects in
            if let known = objects[key] { return known }
            objects[key] = created
            return created
        }
    }
}

/// A custom layer as the graph sees it.
///
/// `@unchecked Sendable`: calls come one at a time.
private final class CustomLayerObject: CustomLayerBody, @unchecked Sendable {
    private let className: String
    private let layer: any MLCustomLayer
    private let lock = NSLock()

    init(_ parameters: SpecCustomLayerParams) throws(ModelError) {
        className = parameters.className
        let type = try CustomLayerClasses.named(parameters.className)
        let values = parameters.parameters.compactMapValues(\.number)
        let weights = parameters.weights.map(\.bytes)
        do {
            layer = try type.init(parameters: values)
            if !weights.isEmpty { try layer.setWeightData(weights) }
        } catch {
            throw Self.translated(error, className)
        }
    }

    func outputShapes(for inputs: [[Int]]) throws(ModelError) -> [[Int]] {
        try calling { try layer.outputShapes(forInputShapes: inputs.map { $0.map { NSNumber(value: $0) } }) }
            .map { $0.map(\.intValue) }
    }

    func evaluate(_ inputs: [Tensor], into outputs: [Tensor]) throws(ModelError) {
        try calling {
            try layer.evaluate(inputs: inputs.map { MLMultiArray($0) }, outputs: outputs.map { MLMultiArray($0) })
        }
    }

    private func calling<R>(_ body: () throws -> R) throws(ModelError) -> R {
        lock.lock()
        defer { lock.unlock() }
        do { return try body() } catch { throw Self.translated(error, className) }
    }

    private static func translated(_ error: any Error, _ name: String) -> ModelError {
        ModelError(.customLayer, "the custom layer's class '\(name)' failed: \(error)")
    }
}

extension ModelError.Code {
    /// A custom layer's class is missing or failed.
    static let customLayer = ModelError.Code("custom layer")
}

extension SpecCustomLayerParams.CustomLayerParamValue {
    /// The parameter in the form that apps get.
    fileprivate var number: Any? {
        switch value {
        case .doubleValue(let value): value
        case .stringValue(let value): value
        case .intValue(let value): Int(value)
        case .longValue(let value): Int(value)
        case .boolValue(let value): value
        case nil: nil
        }
    }
}

extension SpecWeightParams {
    /// The stored values: 4 bytes each in single precision, 2 in half precision, otherwise the bytes of the file.
    fileprivate var bytes: Data {
        if !floatValue.isEmpty { return floatValue.withUnsafeBytes { Data($0) } }
        for data in [float16Value, rawValue, int8RawValue] where !data.isEmpty { return data }
        return Data()
    }
}
