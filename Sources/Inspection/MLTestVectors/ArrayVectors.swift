import MLFeatureFiles
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification

/// Test vectors stored as the arrays of a NumPy archive.
///
/// An array's name is `[CASE/[STEP/]][in:|out:]FEATURE`. Without a case and without `in:` or `out:` it holds all cases,
/// one for each element of its first axis.
struct ArrayVectors {
    private let interface: SpecModelDescription
    /// The name of a case without a name.
    private let name: String

    init(_ interface: SpecModelDescription, _ name: String) {
        self.interface = interface
        self.name = name
    }

    private struct Key: Hashable {
        /// Case and step; empty for arrays with all cases.
        var prefix: String
        var isOutput: Bool
        var feature: String
        /// `labels` or `lengths`, for an array that accompanies another.
        var companion: String
    }

    func cases(_ arrays: [String: Tensor]) throws(ModelError) -> [TestCase] {
        var keys: [Key: Tensor] = [:]
        var (single, batch) = (Set<String>(), false)
        for (text, tensor) in arrays.sorted(by: { $0.key < $1.key }) {
            let (key, isMarked) = try key(text)
            keys[key] = tensor
            if key.prefix.isEmpty, !isMarked { batch = true } else { single.insert(key.prefix) }
        }
        guard !batch || single.isEmpty else {
            throw ModelError(
                .invalidInput,
                "some arrays hold all cases ('\(interface.input.first?.name ?? "x")') and others one case; use one form"
            )
        }
        return batch ? try batchCases(keys) : try namedCases(keys, single)
    }

    /// Parses the name of an array; names of features may contain slashes and colons.
    private func key(_ text: String) throws(ModelError) -> (Key, isMarked: Bool) {
        var best: (key: Key, isMarked: Bool, length: Int)?
        for (features, isOutput) in [(interface.input, false), (interface.output, true)] {
            for feature in features {
                for companion in ["", "labels", "lengths"] {
                    let whole = companion.isEmpty ? feature.name : "\(feature.name).\(companion)"
                    for marker in ["", isOutput ? "out:" : "in:"] {
                        let tail = marker + whole
                        guard text == tail || text.hasSuffix("/" + tail) else { continue }
                        let prefix = text == tail ? "" : String(text.dropLast(tail.count + 1))
                        let length = tail.count * 2 + (isOutput ? 0 : 1)
                        guard length > best?.length ?? 0 else { continue }
                        let key = Key(prefix: prefix, isOutput: isOutput, feature: feature.name, companion: companion)
                        best = (key, !marker.isEmpty, length)
                    }
                }
            }
        }
        guard let best else {
            let names = (interface.input + interface.output).map { "'\($0.name)'" }.joined(separator: ", ")
            throw ModelError(
                .invalidInput,
                "the array '\(text)' is called after no feature of the model; it has \(names)"
            )
        }
        let isBoth =
            interface.input.contains { $0.name == best.key.feature }
            && interface.output.contains { $0.name == best.key.feature }
        guard !isBoth || best.isMarked else {
            throw ModelError(
                .invalidInput,
                "'\(best.key.feature)' is an input and an output; call the arrays 'in:…' and 'out:…'"
            )
        }
        return (best.key, best.isMarked)
    }

    // MARK: One case for each prefix

    private func namedCases(_ keys: [Key: Tensor], _ prefixes: Set<String>) throws(ModelError) -> [TestCase] {
        var steps: [String: [Int: TestStep]] = [:]
        var order: [String] = []
        for prefix in prefixes.sorted() {
            var (test, number) = (prefix, 0)
            if let slash = prefix.lastIndex(of: "/"), let step = Int(prefix[prefix.index(after: slash)...]), step >= 0 {
                (test, number) = (String(prefix[..<slash]), step)
            }
            if steps[test] == nil { order.append(test) }
            steps[test, default: [:]][number] = try withErrorContext(prefix.isEmpty ? name : prefix) {
                () throws(ModelError) in
                try step(keys, prefix)
            }
        }
        var cases: [TestCase] = []
        for test in order.sorted(by: Self.isOrderedBefore) {
            let numbered = steps[test] ?? [:]
            var list: [TestStep] = []
            for number in 0..<numbered.count {
                guard let step = numbered[number] else {
                    throw ModelError(.invalidInput, "the steps of case '\(test)' are not numbered from 0 without gaps")
                }
                list.append(step)
            }
            cases.append(TestCase(name: test.isEmpty ? name : test, steps: list))
        }
        return cases
    }

    /// Orders names that are numbers by value, others as text.
    private static func isOrderedBefore(_ a: String, _ b: String) -> Bool {
        if let first = Int(a), let second = Int(b) { return first < second }
        return a < b
    }

    private func step(_ keys: [Key: Tensor], _ prefix: String) throws(ModelError) -> TestStep {
        var step = TestStep(inputs: [:], outputs: [:])
        for (key, tensor) in keys where key.prefix == prefix && key.companion.isEmpty {
            var labels = key
            labels.companion = "labels"
            let value = try expected(tensor, keys[labels], try feature(key))
            if key.isOutput {
                step.outputs[key.feature] = value
            } else {
                step.inputs[key.feature] = try Self.data(value, try feature(key))
            }
        }
        return step
    }

    // MARK: All cases in one array

    private func batchCases(_ keys: [Key: Tensor]) throws(ModelError) -> [TestCase] {
        var count: Int?
        for (key, tensor) in keys where key.companion.isEmpty {
            var lengths = key
            lengths.companion = "lengths"
            guard let rows = (keys[lengths] ?? tensor).shape.first else {
                throw ModelError(
                    .invalidInput,
                    "'\(key.feature)' has no axis of cases; call it 'in:\(key.feature)' for one case"
                )
            }
            guard count ?? rows == rows else {
                throw ModelError(.invalidInput, "'\(key.feature)' holds \(rows) cases, others \(count ?? 0)")
            }
            count = rows
        }
        var steps = [TestStep](repeating: TestStep(inputs: [:], outputs: [:]), count: count ?? 0)
        for (key, tensor) in keys where key.companion.isEmpty {
            let feature = try feature(key)
            var (labels, lengths) = (key, key)
            (labels.companion, lengths.companion) = ("labels", "lengths")
            let rows = try Self.rows(tensor, lengths: keys[lengths], count: count ?? 0, feature.name)
            for (index, row) in rows.enumerated() {
                let value = try withErrorContext("case \(index)") { () throws(ModelError) in
                    try expected(row, keys[labels], feature)
                }
                if key.isOutput {
                    steps[index].outputs[key.feature] = value
                } else {
                    steps[index].inputs[key.feature] = try Self.data(value, feature)
                }
            }
        }
        return steps.enumerated().map { TestCase(name: "\($0)", steps: [$1]) }
    }

    /// The elements of the first axis, or slices of the given lengths.
    private static func rows(
        _ tensor: Tensor,
        lengths: Tensor?,
        count: Int,
        _ name: String
    ) throws(ModelError) -> [Tensor] {
        guard let lengths else {
            let shape = Array(tensor.shape.dropFirst())
            return (0..<count).map { piece(tensor, $0 * shape.elementCount, shape) }
        }
        guard lengths.scalarType.isInteger, tensor.shape.count == 1 else {
            throw ModelError(.invalidInput, "'\(name).lengths' are integers, and '\(name)' has one axis")
        }
        let sizes = lengths.integers
        var start = 0
        var rows: [Tensor] = []
        for size in sizes {
            guard size >= 0, size <= tensor.count - start else {
                throw ModelError(
                    .invalidInput,
                    "'\(name).lengths' do not add up to the \(tensor.count) elements of '\(name)'"
                )
            }
            rows.append(piece(tensor, start, [size]))
            start += size
        }
        return rows
    }

    private static func piece(_ tensor: Tensor, _ start: Int, _ shape: [Int]) -> Tensor {
        if tensor.scalarType == .string {
            return Tensor(strings: Array(tensor.strings[start..<start + shape.elementCount]), shape: shape)
        }
        return Tensor(
            scalarType: tensor.scalarType,
            shape: shape,
            storage: tensor.storage,
            byteOffset: tensor.byteOffset + tensor.scalarType.byteCount(of: start)
        )
    }

    // MARK: Features

    private func feature(_ key: Key) throws(ModelError) -> SpecFeatureDescription {
        let features = key.isOutput ? interface.output : interface.input
        guard let feature = features.first(where: { $0.name == key.feature }) else {
            throw ModelError(.invalidInput, "the model has no '\(key.feature)'")
        }
        return feature
    }

    private func expected(
        _ tensor: Tensor,
        _ labels: Tensor?,
        _ feature: SpecFeatureDescription
    ) throws(ModelError) -> ExpectedValue {
        guard case .dictionaryType? = feature.type.type else { return .value(try Self.value(tensor, for: feature)) }
        var names: [String] = []
        if let labels {
            names = labels.scalarType == .string ? labels.strings : labels.integers.map { "\($0)" }
        }
        guard tensor.scalarType != .string, names.count == tensor.count else {
            throw ModelError(
                .invalidInput,
                "'\(feature.name)' is a dictionary: \(tensor.count) values need the same number of keys in '\(feature.name).labels'"
            )
        }
        return .scores(labels: names, values: tensor.values)
    }

    private static func data(_ value: ExpectedValue, _ feature: SpecFeatureDescription) throws(ModelError)
        -> FeatureData
    {
        switch value {
        case .value(let data): return data
        case .scores(let labels, let values):
            guard case .dictionaryType(let type) = feature.type.type, case .int64KeyType? = type.keyType else {
                return .dictionary(.strings(Dictionary(zip(labels, values)) { $1 }))
            }
            var integers: [Int64: Double] = [:]
            for (label, value) in zip(labels, values) {
                guard let key = Int64(label) else {
                    throw ModelError(
                        .invalidInput,
                        "'\(label)' is not an integer, as the keys of '\(feature.name)' are"
                    )
                }
                integers[key] = value
            }
            return .dictionary(.integers(integers))
        }
    }

    /// Converts an array to a feature's value; images are uint8 [height, width] or [height, width, 3 or 4].
    static func value(_ tensor: Tensor, for feature: SpecFeatureDescription) throws(ModelError) -> FeatureData {
        func mismatch() -> ModelError {
            ModelError(
                .invalidInput,
                "'\(feature.name)' is \(feature.typeText), but the array holds \(tensor.scalarType.milName) \(tensor.shape)"
            )
        }
        let isText = tensor.scalarType == .string
        switch feature.type.type {
        case .multiArrayType?:
            guard !isText else { throw mismatch() }
            return .tensor(tensor)
        case .doubleType?:
            guard !isText, tensor.count == 1 else { throw mismatch() }
            return .double(tensor.values[0])
        case .int64Type?:
            guard !isText, tensor.count == 1, !tensor.scalarType.isFloat else { throw mismatch() }
            return .int64(Int64(tensor.integers[0]))
        case .stringType?:
            guard isText, tensor.count == 1 else { throw mismatch() }
            return .string(tensor.strings[0])
        case .sequenceType(let sequence)?:
            guard tensor.shape.count == 1 else { throw mismatch() }
            if case .int64Type? = sequence.type {
                guard !isText, !tensor.scalarType.isFloat else { throw mismatch() }
                return .sequence(.integers(tensor.integers.map { Int64($0) }))
            }
            guard isText || tensor.count == 0 else { throw mismatch() }
            return .sequence(.strings(isText ? tensor.strings : []))
        case .imageType?:
            guard let picture = Picture.of(tensor) else { throw mismatch() }
            return .image(picture)
        case .dictionaryType?, .stateType?, nil: throw mismatch()
        }
    }
}
