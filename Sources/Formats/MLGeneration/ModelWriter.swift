import MLFiles

/// Writes the class that loads a model and predicts with it.
struct ModelWriter {
    let types: TypeWriter

    private var interface: GeneratedInterface { types.interface }
    private var access: String { types.access }
    private var any: String { types.any }
    private var name: String { interface.className }
    private var defaultConfiguration: String { "configuration: MLModelConfiguration = MLModelConfiguration()" }
    private var defaultOptions: String { "options: MLPredictionOptions = MLPredictionOptions()" }

    func write(to writer: inout SourceWriter) {
        writer.space()
        writer.add(types.description)
        writer.add(types.availability.ofType)
        // Unchecked, since a class that may be subclassed cannot be checked: it holds an immutable model.
        writer.block("\(access)class \(name): @unchecked Sendable") { writer in
            writer.add("\(access)let model: MLModel")
            writer.space()
            writeModelURL(to: &writer)
            writeInitializers(to: &writer)
            writeLoading(to: &writer)
            if interface.states.isEmpty {
                writePredictions(to: &writer)
                writeBatch(to: &writer)
            } else {
                writeStatefulPredictions(to: &writer)
            }
            writeFeaturePredictions(to: &writer)
        }
    }

    // MARK: Loading

    private func writeModelURL(to writer: inout SourceWriter) {
        let (bundle, location) =
            switch types.options.bundle {
            case .ofClass: ("Bundle(for: self)", "the bundle that holds this class")
            case .ofModule: ("Bundle.module", "the resources of this module")
            }
        writer.add("/// Where the compiled model lies in \(location).")
        writer.block("\(access)class var urlOfModelInThisBundle: URL") { writer in
            let file = SourceText.literal(types.resource)
            writer.add("\(bundle).url(forResource: \(file), withExtension: \"mlmodelc\")!")
        }
        writer.space()
    }

    private func writeInitializers(to writer: inout SourceWriter) {
        writer.add("/// Takes a model that was loaded otherwise.")
        writer.block("\(access)init(model: MLModel)") { $0.add("self.model = model") }
        writer.space()
        writer.add("/// Loads the model from the bundle.")
        writer.add(types.availability.member(since: 3))
        writer.block("\(access)convenience init(\(defaultConfiguration)) throws") {
            $0.add("try self.init(contentsOf: type(of: self).urlOfModelInThisBundle, configuration: configuration)")
        }
        writer.space()
        writer.add("/// Loads the model that lies at `modelURL`.")
        writer.block("\(access)convenience init(contentsOf modelURL: URL) throws") { writer in
            if interface.functionName == nil {
                writer.add("try self.init(model: MLModel(contentsOf: modelURL))")
            } else {
                writer.add("try self.init(contentsOf: modelURL, configuration: MLModelConfiguration())")
            }
        }
        writer.space()
        writer.add("/// Loads the model that lies at `modelURL`.")
        writer.add(types.availability.member(since: 3))
        writer.block(
            "\(access)convenience init(contentsOf modelURL: URL, configuration: MLModelConfiguration) throws"
        ) { $0.add("try self.init(model: MLModel(contentsOf: modelURL, configuration: \(configuration)))") }
        writer.space()
        guard let function = interface.functionName else { return }
        writer.add("/// The configuration with the function that this class asks.")
        writer.block(
            "private class func ofFunction(_ configuration: MLModelConfiguration) -> MLModelConfiguration"
        ) { writer in
            writer.add("let copy = configuration.copy() as! MLModelConfiguration")
            writer.add("copy.functionName = \(SourceText.literal(function))")
            writer.add("return copy")
        }
        writer.space()
    }

    /// The configuration that the model is loaded with, from the variable `configuration`.
    private var configuration: String {
        interface.functionName == nil ? "configuration" : "\(name).ofFunction(configuration)"
    }

    private func writeLoading(to writer: inout SourceWriter) {
        let handler = "completionHandler handler: @escaping (Swift.Result<\(name), \(any)Error>) -> Void"
        writer.add("/// Loads the model from the bundle.")
        writer.add(types.availability.member(since: 5))
        writer.function("\(access)class func load", [defaultConfiguration, handler], "") { writer in
            writer.call(
                "load",
                [
                    "contentsOf: self.urlOfModelInThisBundle", "configuration: configuration",
                    "completionHandler: handler",
                ]
            )
        }
        writer.space()
        writer.add("/// Loads the model from the bundle.")
        writer.add(types.availability.member(since: 6))
        writer.function("\(access)class func load", [defaultConfiguration], " async throws -> \(name)") { writer in
            writer.add(
                "try await load(contentsOf: self.urlOfModelInThisBundle, configuration: configuration)"
            )
        }
        writer.space()
        writer.add("/// Loads the model that lies at `modelURL`.")
        writer.add(types.availability.member(since: 5))
        writer.function(
            "\(access)class func load",
            ["contentsOf modelURL: URL", defaultConfiguration, handler],
            ""
        ) { writer in
            writer.block("MLModel.load(contentsOf: modelURL, configuration: \(configuration))", entry: "result in") {
                $0.add("handler(result.map { \(name)(model: $0) })")
            }
        }
        writer.space()
        writer.add("/// Loads the model that lies at `modelURL`.")
        writer.add(types.availability.member(since: 6))
        writer.function(
            "\(access)class func load",
            ["contentsOf modelURL: URL", defaultConfiguration],
            " async throws -> \(name)"
        ) { writer in
            writer.add(
                "\(name)(model: try await MLModel.load(contentsOf: modelURL, configuration: \(configuration)))"
            )
        }
        writer.space()
    }

    // MARK: Predicting

    private func writePredictions(to writer: inout SourceWriter) {
        let (input, output) = ("input: \(interface.inputName)", interface.outputName)
        writer.function("\(access)func prediction", [input], " throws -> \(output)") {
            $0.add("try self.prediction(input: input, options: MLPredictionOptions())")
        }
        writer.space()
        writer.function("\(access)func prediction", [input, "options: MLPredictionOptions"], " throws -> \(output)") {
            $0.add("\(output)(features: try self.model.prediction(from: input, options: options))")
        }
        writer.space()
        writer.add(types.availability.member(since: 8))
        writer.function("\(access)func prediction", [input, defaultOptions], " async throws -> \(output)") {
            $0.add("\(output)(features: try await self.model.prediction(from: input, options: options))")
        }
        writer.space()
    }

    private func writeBatch(to writer: inout SourceWriter) {
        writer.add("/// Predicts from several inputs, at once where the model can.")
        writer.add(types.availability.member(since: 3))
        writer.function(
            "\(access)func predictions",
            ["inputs: [\(interface.inputName)]", defaultOptions],
            " throws -> [\(interface.outputName)]"
        ) { writer in
            writer.add(
                "let batch = try self.model.predictions(from: MLArrayBatchProvider(array: inputs), options: options)"
            )
            writer.add("return (0..<batch.count).map { \(interface.outputName)(features: batch.features(at: $0)) }")
        }
        writer.space()
    }

    private func writeStatefulPredictions(to writer: inout SourceWriter) {
        let (output, state) = (interface.outputName, interface.stateName)
        let parameters = ["input: \(interface.inputName)", "using state: \(state)"]
        writer.add("/// A new state, as predictions begin with.")
        writer.block("\(access)func makeState() -> \(state)") { $0.add("\(state)(handle: self.model.makeState())") }
        writer.space()
        writer.function("\(access)func prediction", parameters, " throws -> \(output)") {
            $0.add("try self.prediction(input: input, using: state, options: MLPredictionOptions())")
        }
        writer.space()
        let call = "self.model.prediction(from: input, using: state.handle, options: options)"
        writer.function(
            "\(access)func prediction",
            parameters + ["options: MLPredictionOptions"],
            " throws -> \(output)"
        ) { $0.add("\(output)(features: try \(call))") }
        writer.space()
        writer.function("\(access)func prediction", parameters + [defaultOptions], " async throws -> \(output)") {
            $0.add("\(output)(features: try await \(call))")
        }
        writer.space()
    }

    /// The forms that take the features one by one.
    private func writeFeaturePredictions(to writer: inout SourceWriter) {
        let list = FeatureList(features: interface.inputs)
        var names = Set(interface.inputs.map(\.identifier))
        let state = SwiftIdentifier.unused("state", in: &names)
        let isStateful = !interface.states.isEmpty
        func write(_ parameters: [String], _ arguments: [String], to writer: inout SourceWriter) {
            writer.function(
                "\(access)func prediction",
                parameters + (isStateful ? ["using \(state): \(interface.stateName)"] : []),
                " throws -> \(interface.outputName)"
            ) { writer in
                writer.call(
                    "try self.prediction(input: \(interface.inputName)",
                    arguments,
                    isStateful ? ", using: \(state))" : ")"
                )
            }
            writer.space()
        }
        write(list.parameters, list.arguments, to: &writer)
        guard list.hasArrays else { return }
        writer.guarded(float16: list.hasFloat16) { writer in
            writer.add(types.availability.member(since: 6))
            write(list.shapedParameters, list.shapedArguments, to: &writer)
        }
    }
}
