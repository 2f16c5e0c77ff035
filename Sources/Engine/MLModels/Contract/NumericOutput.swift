import MLFeatures
import MLNumerics
import MLSpecification

/// A numeric output, in the type that the interface states for it.
struct NumericOutput: Sendable {
    let name: String
    private let form: Form

    private enum Form: Sendable {
        case double, integer
        /// The shape is empty when the interface states none.
        case array(ScalarType, [Int])
    }

    init(_ feature: SpecFeatureDescription) throws(ModelError) {
        name = feature.name
        switch feature.type.type {
        case .doubleType?: form = .double
        case .int64Type?: form = .integer
        case .multiArrayType(let array)?:
            form = .array(array.scalarType, array.fixedCount == nil ? [] : array.shape.map { Int($0) })
        default: throw feature.mismatch("a number or a multi-array")
        }
    }

    /// Whether the result can only be a single number.
    var isScalar: Bool { if case .array = form { false } else { true } }

    /// The values [examples, width]; arrays get the stated shape when it has as many elements, otherwise that of
    /// `source`'s arrays, otherwise [width].
    func column(_ values: Tensor, shapedLike source: FeatureColumn? = nil) throws(ModelError) -> FeatureColumn {
        let (count, width) = (values.shape[0], values.shape[1])
        switch form {
        case .double:
            guard width == 1 else { throw tooMany(width) }
            return .doubles(values.values)
        case .integer:
            guard width == 1 else { throw tooMany(width) }
            var integers: [Int64] = []
            integers.reserveCapacity(count)
            for value in values.values {
                guard let integer = Int64(exactly: value) else {
                    throw ModelError(.invalidInput, "the output '\(name)' is an integer, but its value is \(value)")
                }
                integers.append(integer)
            }
            return .integers(integers)
        case .array(let scalarType, let shape):
            var row = [width]
            if !shape.isEmpty, shape.elementCount == width {
                row = shape
            } else if case .arrays(let tensor)? = source, Array(tensor.shape.dropFirst()).elementCount == width {
                row = Array(tensor.shape.dropFirst())
            }
            return .arrays(values.converted(to: scalarType).reshaped([count] + row))
        }
    }

    private func tooMany(_ width: Int) -> ModelError {
        ModelError(.invalidModel, "the output '\(name)' is one number, but the model gives \(width) for each example")
    }
}
