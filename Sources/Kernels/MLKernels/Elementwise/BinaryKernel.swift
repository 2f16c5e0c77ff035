import CMLKernels

/// A function of two arrays with broadcasting, prepared for their shapes.
///
/// Shapes are aligned at their last axes, as in NumPy; operands and result are contiguous. The result of arithmetic may
/// share the memory of an operand of the same shape.
package struct BinaryKernel: Sendable {
    package enum Element: Sendable {
        case float32
        case int32
        /// Bytes 0 or 1: `and`, `or`, `xor`, `equal`, `notEqual`.
        case bool
    }

    /// The extents of the result.
    package let resultShape: [Int]
    private var shape: cml_broadcast
    private let function: ElementwiseKernel.BinaryFunction
    private let element: Element
    private let then: UnaryFunction

    /// `then` is applied to the results of float arithmetic.
    ///
    /// At most 8 axes.
    package init(
        _ function: ElementwiseKernel.BinaryFunction,
        _ first: [Int],
        _ second: [Int],
        element: Element = .float32,
        then: UnaryFunction = .identity
    ) {
        let sizes = broadcastShape([first, second])
        self.init(
            function,
            sizes: sizes,
            strides: broadcastStrides(first, to: sizes),
            broadcastStrides(second, to: sizes),
            element: element,
            then: then
        )
    }

    /// The same with explicit operand strides over the result's `sizes`; a stride of 0 repeats.
    package init(
        _ function: ElementwiseKernel.BinaryFunction,
        sizes: [Int],
        strides first: [Int],
        _ second: [Int],
        element: Element = .float32,
        then: UnaryFunction = .identity
    ) {
        self.function = function
        self.element = element
        self.then = then
        resultShape = sizes
        shape = cml_broadcast()
        shape.rank = Int32(sizes.count)
        shape.extent = tuple8(sizes)
        shape.a = tuple8(first)
        shape.b = tuple8(second)
    }

    package func run(_ first: UnsafeRawPointer, _ second: UnsafeRawPointer, _ result: UnsafeMutableRawPointer) {
        let (then, alpha, beta) = then.lowered
        let element =
            switch element {
            case .float32: CML_ELEMENT_F32
            case .int32: CML_ELEMENT_I32
            case .bool: CML_ELEMENT_BYTE
            }
        withUnsafePointer(to: shape) {
            cml_binary_apply(
                cml_isa_current(),
                function.lowered,
                element,
                $0,
                first,
                second,
                result,
                then,
                alpha,
                beta
            )
        }
    }
}

/// The broadcast shape of operands aligned at their last axes.
func broadcastShape(_ shapes: [[Int]]) -> [Int] {
    let rank = shapes.map(\.count).max() ?? 0
    precondition(rank <= 8, "at most 8 axes")
    return (0..<rank).map { axis in
        var extent = 1
        for shape in shapes {
            let position = axis - (rank - shape.count)
            guard position >= 0, shape[position] != 1 else { continue }
            precondition(extent == 1 || extent == shape[position], "shapes \(shapes) do not broadcast")
            extent = shape[position]
        }
        return extent
    }
}

/// The strides of a contiguous operand in the result's shape: 0 where it is repeated.
func broadcastStrides(_ shape: [Int], to result: [Int]) -> [Int] {
    let strides = contiguousStrides(shape)
    let missing = result.count - shape.count
    return result.indices.map { axis in
        axis < missing || shape[axis - missing] == 1 ? 0 : strides[axis - missing]
    }
}
