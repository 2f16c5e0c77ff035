import MLEngine
package import MLNumerics

/// A multi-dimensional array of numbers or truth values, and computations with it.
///
/// A tensor never changes: every operation gives a new one. Operations are recorded and computed together when
/// `shapedArray(of:)` or a prediction needs the elements, each only once as long as its tensor is held; shape and scalar
/// type are known at once. Elements lie in row-major order. Shapes of operands that meet element by element are broadcast:
/// aligned at the last axis, an extent of 1 is repeated. Axes may be negative and then count from the last one.
///
/// Shapes, axes and scalar types that do not fit are errors of the program: it ends with a message that names the
/// operation, the operands and what to do.
public struct MLTensor: Sendable {
    let lazy: LazyTensor
    /// Whether it stands for a literal, which takes the scalar type of the tensor that it meets.
    let isLiteral: Bool

    init(_ lazy: LazyTensor, isLiteral: Bool = false) {
        self.lazy = lazy
        self.isLiteral = isLiteral
    }

    /// A tensor of elements that the engine knows.
    package init(_ tensor: Tensor) {
        let type = tensor.scalarType.heldByTensors
        self.init(LazyTensor(tensor.scalarType == type ? tensor : tensor.converted(to: type)))
    }

    /// The extent of each axis, outermost first; empty for a scalar.
    public var shape: [Int] { lazy.shape }
    /// The number of axes; 0 for a scalar.
    public var rank: Int { lazy.rank }
    /// The number of elements: the product of the extents, 1 for a scalar.
    public var scalarCount: Int { shape.reduce(1, *) }
    /// Whether the tensor has no axes, and so one element.
    public var isScalar: Bool { rank == 0 }
    /// The type of the elements, such as `Float.self`.
    public var scalarType: any MLTensorScalar.Type { lazy.scalarType.tensorScalar }

    /// The elements, after computing whatever they depend on.
    ///
    /// The computation runs on another thread, so that it does not hold up other tasks. Asking again is free. The array
    /// shares the tensor's memory until it is changed.
    ///
    /// - Parameter scalarType: The tensor's scalar type; another one traps. `cast(to:)` converts: Booleans and the types that
    ///   shaped arrays lack, for example, to `Int32`.
    /// - Returns: An array of the tensor's shape.
    public func shapedArray<Scalar>(of scalarType: Scalar.Type) async -> MLShapedArray<Scalar>
    where Scalar: MLShapedArrayScalar, Scalar: MLTensorScalar {
        let asked = tensorElement(scalarType).scalarType
        TensorCall("shapedArray").require(
            asked == lazy.scalarType,
            "the elements are \(self.scalarType), not \(scalarType); use cast(to: \(scalarType).self) first"
        )
        let elements = await MLTensor.elements(of: [self])[0]
        let storage = elements.storage
        let shared = ShapedStorage(
            address: elements.address,
            isWritable: false,
            release: { withExtendedLifetime(storage) {} }
        )
        return MLShapedArray(
            view: ShapedView(storage: shared, shape: shape, strides: contiguousStrides(of: shape))
        )
    }

    /// The elements of several tensors, computed together.
    static func elements(of tensors: [MLTensor]) async -> [Tensor] {
        let known = tensors.compactMap(\.lazy.knownElements)
        if known.count == tensors.count { return known }
        do {
            return try await runBlocking { try LazyTensor.elements(of: tensors.map(\.lazy)) }
        } catch {
            fatalError("MLTensor: the elements cannot be computed: \(error)")
        }
    }
}

extension MLTensor: CustomStringConvertible, CustomReflectable {
    /// The shape and the scalar type; it computes no elements.
    public var description: String { "MLTensor(shape: \(shape), scalarType: \(scalarType))" }

    /// The shape and the scalar type as children; it computes no elements.
    public var customMirror: Mirror {
        Mirror(self, children: ["shape": shape, "scalarType": scalarType], displayStyle: .struct)
    }
}
