import MLFeatures
import MLNumerics
import MLSpecification

/// The numbers and arrays of the interface, concatenated to one vector of Double for each example.
struct VectorInput: Sendable {
    /// The names of the inputs, in the order of the interface.
    let names: [String]
    /// The number of elements in a vector; `nil` when it depends on the examples.
    let width: Int?

    /// Reads the inputs of an interface that together form the feature vector.
    ///
    /// - Parameters:
    ///   - interface: The model's interface.
    ///   - width: The number of elements that the model's parameters need; `nil` when they do not say.
    /// - Throws: `.invalidModel` when there are no inputs, one has a type without numbers, or their sizes do not add up
    ///   to `width`.
    init(_ interface: SpecModelDescription, width: Int? = nil) throws(ModelError) {
        guard !interface.input.isEmpty else { throw ModelError(.invalidModel, "the model's interface has no inputs") }
        var total: Int? = 0
        for feature in interface.input {
            switch feature.type.type {
            case .doubleType?, .int64Type?: total = total.map { $0 + 1 }
            case .multiArrayType(let array)?: total = array.fixedCount.flatMap { count in total.map { $0 + count } }
            default: throw feature.mismatch("numbers and multi-arrays")
            }
        }
        if let total, let width, total != width {
            throw ModelError(
                .invalidModel,
                "the inputs have \(total) elements in all, but the model's parameters are for \(width)"
            )
        }
        names = interface.input.map(\.name)
        self.width = width ?? total
    }

    /// The vectors, [examples, width] float64.
    func matrix(_ batch: FeatureBatch) throws(ModelError) -> Tensor {
        if names.count == 1 {
            let rows = try batch.column(names[0]).rows(named: names[0])
            return try checked(rows)
        }
        var parts: [Tensor] = []
        for name in names { parts.append(try batch.column(name).rows(named: name)) }
        let total = parts.reduce(0) { $0 + $1.shape[1] }
        var result = Tensor(uninitialized: .float64, shape: [batch.count, total])
        result.withMutableElements(of: Double.self) { target in
            var start = 0
            for part in parts {
                let width = part.shape[1]
                part.withElements(of: Double.self) { source in
                    for row in 0..<batch.count {
                        for column in 0..<width { target[row * total + start + column] = source[row * width + column] }
                    }
                }
                start += width
            }
        }
        return try checked(result)
    }

    private func checked(_ rows: Tensor) throws(ModelError) -> Tensor {
        if let width, rows.shape[1] != width {
            throw ModelError(
                .invalidInput,
                "the inputs \(names.map { "'\($0)'" }.joined(separator: ", ")) give \(rows.shape[1]) elements, "
                    + "but the model takes \(width)"
            )
        }
        return rows
    }
}

extension FeatureColumn {
    /// Numbers and arrays as rows, [examples, elements] float64.
    func rows(named name: String) throws(ModelError) -> Tensor {
        switch self {
        case .doubles(let values): return Tensor(elements: values, scalarType: .float64, shape: [values.count, 1])
        case .integers(let values):
            return Tensor(values: values.map(Double.init), scalarType: .float64, shape: [values.count, 1])
        case .arrays(let tensor):
            return tensor.converted(to: .float64).reshaped([
                tensor.shape[0], Array(tensor.shape.dropFirst()).elementCount,
            ])
        case .values(let values):
            var numbers: [Double] = []
            var width: Int?
            for value in values {
                let row: [Double]
                switch value {
                case .double(let number): row = [number]
                case .int64(let number): row = [Double(number)]
                case .tensor(let tensor): row = tensor.values
                default:
                    throw ModelError(.invalidInput, "the input '\(name)' is \(value.kind); the model takes numbers")
                }
                guard width ?? row.count == row.count else {
                    throw ModelError(.invalidInput, "the arrays of the input '\(name)' differ in size within the batch")
                }
                width = row.count
                numbers += row
            }
            return Tensor(values: numbers, scalarType: .float64, shape: [values.count, width ?? 0])
        case .strings, .scores:
            throw ModelError(.invalidInput, "the input '\(name)' is \(value(at: 0).kind); the model takes numbers")
        }
    }
}
