import MLEngine
import MLFeatureFiles
import MLFeatures
package import MLFiles
import MLNumerics
import MLSpecification
import MLUpdating

/// Finds all problems of a model file, not only the first one.
package enum ModelValidation {
    /// Validates the model at a path.
    ///
    /// - Parameters:
    ///   - path: A `.mlmodel` file, a `.mlpackage` or a `.mlmodelc` folder.
    ///   - runs: Whether to make a prediction with generated inputs as well.
    /// - Returns: The findings; empty for a valid model.
    package static func findings(at path: String, runs: Bool = false) -> [ModelFinding] {
        var list = FindingList()
        if FileAccess.kind(of: path) == .folder { PackageCheck.check(FileAccess.withoutTrailingSlash(path), &list) }
        do throws(ModelError) {
            let file = try ModelFile.open(path: path)
            check(file, runs: runs, &list)
        } catch {
            // Errors of a package's parts are reported only once.
            if !list.hasError(saying: error.message) { list.error(error.without(path)) }
        }
        return list.findings
    }

    /// Validates a model that was already read.
    ///
    /// - Parameters:
    ///   - file: The model.
    ///   - runs: Whether to make a prediction with generated inputs as well.
    /// - Returns: The findings; empty for a valid model.
    package static func findings(of file: ModelFile, runs: Bool = false) -> [ModelFinding] {
        var list = FindingList()
        check(file, runs: runs, &list)
        return list.findings
    }

    private static func check(_ file: ModelFile, runs: Bool, _ list: inout FindingList) {
        for item in file.unlistedItems {
            list.warning("the manifest does not list it, so it is not part of the model", at: "Data/\(item)")
        }
        check(file, &list)
        MetadataCheck.check(file.specification.description_p.metadata, &list)
        let classes = file.specification.allCustomClasses
        guard classes.isEmpty else {
            list.warning(
                "the model computes with the app's own \(classes.joined(separator: ", ")), so it loads only in that app"
            )
            return
        }
        do throws(ModelError) {
            let engine = try EngineLoader.load(file)
            if runs { run(engine, &list) }
        } catch {
            let error = error.without(file.path)
            if !list.hasError(saying: error.message) {
                list.inside("loading") { $0.error(error) }
            }
        }
    }

    /// Checks a model and those inside it, without loading.
    static func check(_ file: ModelFile, _ list: inout FindingList) {
        let model = file.specification
        do throws(ModelError) { try SpecificationReader.validate(model) } catch {
            list.error(error)
            return
        }
        let needed = SpecificationVersion.minimum(model)
        if needed > model.specificationVersion {
            list.warning(
                "the model states specification \(model.specificationVersion), but its features came with \(needed); "
                    + "systems of the older one may refuse it: state \(needed)",
                at: "specificationVersion"
            )
        }
        InterfaceCheck.check(model, &list)
        LabelCheck.check(model, &list)
        switch model.type {
        case .mlProgram(let program)?: ProgramCheck.check(program, file, &list)
        case .neuralNetwork?, .neuralNetworkClassifier?, .neuralNetworkRegressor?: NetworkCheck.check(file, &list)
        default: break
        }
        if !model.stages.isEmpty { PipelineCheck.check(file, &list) }
        if model.isUpdatable { checkUpdate(model, &list) }
    }

    private static func checkUpdate(_ model: SpecModel, _ list: inout FindingList) {
        if model.description_p.trainingInput.isEmpty {
            list.error(
                "an updatable model lists the features of a training example",
                at: "description",
                "trainingInput"
            )
        }
        list.inside("update") { list in
            _ = list.catching { () throws(ModelError) in
                try UpdatableModel.validate(model)
                _ = try UpdateParameters(of: try UpdateTarget(of: model))
            }
        }
    }

    /// Makes a prediction with generated inputs and checks the outputs' numbers.
    private static func run(_ engine: any ModelEngine, _ list: inout FindingList) {
        list.inside("prediction on sample inputs") { list in
            let outputs: [String: FeatureData]
            do throws(ModelError) {
                let inputs = try SampleFeatures.features(of: engine.interface)
                outputs = try engine.prediction(from: inputs, backings: [:], state: engine.makeState())
            } catch {
                // Generated values may be invalid inputs for this model, such as a word that it does not know.
                if error.code == .invalidInput { list.warning("\(error)") } else { list.error(error) }
                return
            }
            for (name, value) in outputs.sorted(by: { $0.key < $1.key }) {
                let numbers: [Double] =
                    switch value {
                    case .tensor(let tensor) where tensor.scalarType != .string: tensor.values
                    case .double(let value): [value]
                    case .dictionary(.strings(let values)): Array(values.values)
                    case .dictionary(.integers(let values)): Array(values.values)
                    default: []
                    }
                let bad = numbers.count { !$0.isFinite }
                if bad > 0 {
                    list.error("\(bad) of \(numbers.count) numbers are not finite", at: "output '\(name)'")
                }
            }
        }
    }
}

extension SpecModel {
    /// The classes that an app must implement for this model and those inside it.
    fileprivate var allCustomClasses: [String] { customClasses + stages.flatMap(\.allCustomClasses) }
}

extension ModelError {
    /// The error without the leading path of its file, which the caller knows.
    func without(_ path: String) -> ModelError {
        var copy = self
        let folder = FileAccess.withoutTrailingSlash(path)
        while let first = copy.trail.first, first == path || first == folder { copy.trail.removeFirst() }
        return copy
    }
}
