import Foundation
package import MLEngine
package import MLNumerics
package import MLSpecification
import Synchronization

/// The app's classes of custom models, by the names that model files use; looked up as those of custom layers are.
package struct CustomModelClasses: CustomModelSource {
    private static let registered = Mutex<[String: Entry]>([:])

    /// A registered class.
    ///
    /// `@unchecked Sendable`: types never change.
    private struct Entry: @unchecked Sendable {
        let type: any MLCustomModel.Type
    }

    package init() {}

    /// Registers `type` as the class that files call `name`.
    package static func register(_ type: any MLCustomModel.Type, as name: String) {
        let entry = Entry(type: type)
        registered.withLock { $0[name] = entry }
    }

    private static func named(_ name: String) throws(ModelError) -> any MLCustomModel.Type {
        if let entry = registered.withLock({ $0[name] }) { return entry.type }
        if let type = AppClasses.named(name) as? any MLCustomModel.Type { return type }
        throw ModelError(
            .customModel,
            "the custom model's class '\(name)' is not known; call CustomModels.register(\(name).self, as: \"\(name)\") "
                + "of CoreMLExtras before loading the model"
        )
    }

    /// Makes the engine of a model that a class of the app computes.
    package func engine(for model: SpecModel) throws(ModelError) -> any ModelEngine {
        guard case .customModel(let custom)? = model.type else {
            throw ModelError(.invalidModel, "the model is not a custom model")
        }
        let type = try Self.named(custom.className)
        do {
            let description = MLModelDescription(model, functionName: nil)
            let body = try type.init(
                modelDescription: description,
                parameters: custom.parameters.compactMapValues(\.parameter)
            )
            return CustomModelEngine(body, custom.className, description, model.description_p)
        } catch {
            throw CustomModelEngine.translated(error, custom.className)
        }
    }
}

extension ModelError.Code {
    /// A custom model's class is missing or failed.
    static let customModel = ModelError.Code("custom model")
}

/// The engine of a custom model.
///
/// `@unchecked Sendable`: predictions reach the app's object on the threads that call them; its thread safety is the
/// app's responsibility.
private final class CustomModelEngine: ModelEngine, @unchecked Sendable {
    let interface: SpecModelDescription
    private let body: any MLCustomModel
    private let className: String
    private let description: MLModelDescription

    init(
        _ body: any MLCustomModel,
        _ className: String,
        _ description: MLModelDescription,
        _ interface: SpecModelDescription
    ) {
        self.body = body
        self.className = className
        self.description = description
        self.interface = interface
    }

    var prefersBatches: Bool { true }

    static func translated(_ error: any Error, _ name: String) -> ModelError {
        if let error = error as? ModelError { return error }
        return ModelError(.customModel, "the custom model's class '\(name)' failed: \(error)")
    }

    func prediction(
        from inputs: [String: FeatureData],
        backings: [String: FeatureData],
        state: ModelState?
    ) throws(ModelError) -> [String: FeatureData] {
        do {
            return try data(try body.prediction(from: try provider(inputs), options: MLPredictionOptions()))
        } catch { throw Self.translated(error, className) }
    }

    func predictions(from batch: FeatureBatch) throws(ModelError) -> FeatureBatch {
        var results: [[String: FeatureData]] = []
        do {
            let examples = try (0..<batch.count).map { try provider(batch.features(at: $0)) }
            let answers = try body.predictions(
                from: MLArrayBatchProvider(array: examples),
                options: MLPredictionOptions()
            )
            guard answers.count == batch.count else {
                throw ModelError(
                    .customModel,
                    "the custom model's class '\(className)' gave \(answers.count) answers for \(batch.count) examples"
                )
            }
            for index in 0..<answers.count { results.append(try data(answers.features(at: index))) }
        } catch { throw Self.translated(error, className) }
        guard let joined = FeatureBatch(results) else {
            throw ModelError(
                .customModel,
                "the custom model's class '\(className)' gave other outputs for some examples"
            )
        }
        return joined
    }

    private func provider(_ features: [String: FeatureData]) throws -> any MLFeatureProvider {
        var values: [String: MLFeatureValue] = [:]
        for (name, data) in features {
            values[name] = try MLFeatureValue(data, description.inputDescriptionsByName[name])
        }
        return MLDictionaryFeatureProvider(values: values)
    }

    /// The outputs that the description lists; each must be present and fit.
    private func data(_ answer: any MLFeatureProvider) throws -> [String: FeatureData] {
        var features: [String: FeatureData] = [:]
        for (name, output) in description.outputDescriptionsByName {
            guard let value = answer.featureValue(for: name), !value.isUndefined else {
                if output.isOptional { continue }
                throw ModelError(.customModel, "the custom model's class '\(className)' gave no output '\(name)'")
            }
            if let failure = output.validationFailure(for: value, allowsLegacyRanks: false) {
                throw ModelError(
                    .customModel,
                    "the output '\(name)' of the custom model's class '\(className)' \(failure)"
                )
            }
            features[name] = try value.engineData(for: output)
        }
        return features
    }
}

extension SpecCustomModel.CustomModelParamValue {
    /// The parameter in the form that apps get.
    fileprivate var parameter: Any? {
        switch value {
        case .doubleValue(let value): value
        case .stringValue(let value): value
        case .intValue(let value): Int(value)
        case .longValue(let value): Int(value)
        case .boolValue(let value): value
        case .bytesValue(let value): value
        case nil: nil
        }
    }
}
