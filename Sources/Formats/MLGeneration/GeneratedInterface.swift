import MLFiles
import MLNumerics
import MLSpecification

/// The members of one generated class: the interface of a model, or of one of its functions, with the names of the
/// types.
struct GeneratedInterface {
    struct State {
        let name: String
        let identifier: String
        let comment: [String]
    }

    let className: String
    /// The function that the class always asks; `nil` when the caller's configuration says which.
    let functionName: String?
    let inputs: [GeneratedFeature]
    let outputs: [GeneratedFeature]
    let states: [State]
    /// `nil` for a model that does not learn.
    let trainingInputs: [GeneratedFeature]?

    var inputName: String { className + "Input" }
    var outputName: String { className + "Output" }
    var stateName: String { className + "State" }
    var trainingInputName: String { className + "TrainingInput" }

    private static let inputMembers: Set<String> = ["featureNames", "featureValue"]
    private static let outputMembers = inputMembers.union(["provider"])
    private static let stateMembers: Set<String> = ["allCases", "hash", "hashValue", "rawValue"]
    private static let endings = ["", "Input", "Output", "State", "TrainingInput"]

    /// The interface of the model, or of its default function; then those of its other functions, in the file's order.
    static func all(_ model: SpecModel, named name: String) throws(ModelError) -> [GeneratedInterface] {
        var used = SwiftIdentifier.reservedTypes
        func className(_ wish: String) -> String {
            var name = wish
            while endings.contains(where: { used.contains(name + $0) }) { name += "_" }
            used.formUnion(endings.map { name + $0 })
            return name
        }
        let description = model.description_p
        let mainName = description.defaultFunctionName.isEmpty ? "main" : description.defaultFunctionName
        var wanted: [(name: String, function: String?)] = [(className(SwiftIdentifier.className(name)), nil)]
        for function in description.functions where function.name != mainName {
            let ending = SwiftIdentifier.capitalized(SwiftIdentifier.spelled(function.name, avoiding: []))
            wanted.append((className(wanted[0].name + ending), function.name))
        }
        var result: [GeneratedInterface] = []
        for (name, function) in wanted {
            let location = function.map { "function \(SourceText.line($0))" } ?? "interface"
            let interface = try withErrorContext(location) { () throws(ModelError) in
                try GeneratedInterface(
                    description.interface(of: function),
                    className: name,
                    function: function,
                    learns: model.isUpdatable,
                    typeNames: used.subtracting(SwiftIdentifier.reservedTypes)
                )
            }
            result.append(interface)
        }
        return result
    }

    private init(
        _ description: SpecModelDescription,
        className: String,
        function: String?,
        learns: Bool,
        typeNames: Set<String>
    ) throws(ModelError) {
        self.className = className
        functionName = function
        inputs = try withErrorContext("inputs") { () throws(ModelError) in
            try GeneratedFeature.features(description.input, taken: typeNames.union(Self.inputMembers))
        }
        outputs = try withErrorContext("outputs") { () throws(ModelError) in
            try GeneratedFeature.features(description.output, taken: typeNames.union(Self.outputMembers))
        }
        trainingInputs =
            learns
            ? try withErrorContext("training inputs") { () throws(ModelError) in
                try GeneratedFeature.features(description.trainingInput, taken: typeNames.union(Self.inputMembers))
            } : nil
        let identifiers = SwiftIdentifier.unique(description.state.map(\.name), taken: Self.stateMembers)
        states = zip(description.state, identifiers).map { state, identifier in
            State(name: state.name, identifier: identifier, comment: SourceText.comment(state.shortDescription))
        }
    }

    /// The specification version whose systems have all types that the interface names.
    var neededVersion: Int32 {
        var version: Int32 = states.isEmpty && functionName == nil ? 1 : 9
        for feature in inputs + outputs + (trainingInputs ?? []) {
            if feature.scalar == "Float16" { version = max(version, 7) }
            if feature.scalar == "Int8" { version = max(version, 10) }
            if case .image(let format) = feature.kind, format.pixelFormat.hasSuffix("16Half") {
                version = max(version, 7)
            }
            if case .sequence = feature.kind { version = max(version, 3) }
        }
        return version
    }
}
