import MLEngine
import MLNumerics

/// Literals: they take the scalar type of the tensor that they meet in an operation, as far as it includes their numbers.
///
/// By themselves integers are `Int32`, numbers with a point `Float`.
extension MLTensor: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral
{
    /// A scalar of an integer literal.
    public init(integerLiteral value: Int32) { self.init(LazyTensor(tensorScalar(value)), isLiteral: true) }

    /// A scalar of a floating-point literal.
    public init(floatLiteral value: Float) { self.init(LazyTensor(tensorScalar(value)), isLiteral: true) }

    /// A scalar of `true` or `false`.
    public init(booleanLiteral value: Bool) { self.init(LazyTensor(tensorScalar(value)), isLiteral: true) }

    /// Tensors of one shape, or literals, stacked along a new first axis; without any, an empty tensor of `Float`.
    public init(arrayLiteral elements: MLTensor...) {
        guard !elements.isEmpty else {
            self.init(LazyTensor(Tensor(uninitialized: .float32, shape: [0])), isLiteral: true)
            return
        }
        let call = TensorCall("init(arrayLiteral:)")
        let parts = call.common(elements)
        guard parts.allSatisfy(\.isLiteral) else {
            self.init(stacking: parts)
            return
        }
        let known = parts.compactMap(\.lazy.knownElements)
        call.require(
            known.allSatisfy { $0.shape == known[0].shape },
            "the rows of a literal differ in their shapes: \(known.map(\.shape))"
        )
        let elements = Tensor(
            values: known.flatMap(\.values),
            scalarType: known[0].scalarType,
            shape: [known.count] + known[0].shape
        )
        self.init(LazyTensor(elements), isLiteral: true)
    }
}
