import CMLKernels

/// Functions of every element of single-precision tensors.
package enum ElementwiseKernel {
    /// `y[i] = function(x[i])`; `y` may be `x`.
    package static func map(
        _ function: UnaryFunction,
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        let (function, alpha, beta) = function.lowered
        cml_unary_map(cml_isa_current(), function, alpha, beta, x, y, count)
    }

    /// A function of two numbers; comparisons and logic give 1 or 0, logic takes every number but 0 for true.
    package enum BinaryFunction: Hashable, Sendable, CaseIterable {
        case add, subtract, multiply, divide, maximum, minimum
        /// ⌊x / y⌋
        case floorDivide
        /// x − y·⌊x / y⌋
        case modulo
        case power
        /// (x − y)²
        case squaredDifference
        case equal, notEqual, less, lessEqual, greater, greaterEqual
        case and, or, xor

        var lowered: cml_binary {
            switch self {
            case .add: CML_ADD
            case .subtract: CML_SUBTRACT
            case .multiply: CML_MULTIPLY
            case .divide: CML_DIVIDE
            case .maximum: CML_MAXIMUM
            case .minimum: CML_MINIMUM
            case .floorDivide: CML_FLOOR_DIVIDE
            case .modulo: CML_MODULO
            case .power: CML_POWER
            case .squaredDifference: CML_SQUARED_DIFFERENCE
            case .equal: CML_EQUAL
            case .notEqual: CML_NOT_EQUAL
            case .less: CML_LESS
            case .lessEqual: CML_LESS_EQUAL
            case .greater: CML_GREATER
            case .greaterEqual: CML_GREATER_EQUAL
            case .and: CML_AND
            case .or: CML_OR
            case .xor: CML_XOR
            }
        }
    }

    /// The largest rank that strided kernels take.
    package static var maximumRank: Int { Int(CML_MAX_RANK) }

    /// `z = x ∘ y` over `sizes` (rank at most `maximumRank`); `z` is contiguous.
    ///
    /// Strides count elements, one for each axis; 0 repeats an operand along it.  `z` may be an operand whose strides
    /// are those of `z`.
    package static func combine(
        _ function: BinaryFunction,
        sizes: [Int],
        _ x: UnsafePointer<Float>,
        strides xStrides: [Int],
        _ y: UnsafePointer<Float>,
        strides yStrides: [Int],
        into z: UnsafeMutablePointer<Float>
    ) {
        precondition(sizes.count <= maximumRank, "rank \(sizes.count)")
        cml_binary_map(cml_isa_current(), function.lowered, sizes.count, sizes, x, xStrides, y, yStrides, z)
    }

    /// `z = condition ≠ 0 ? x : y` with the same broadcasting.
    package static func choose(
        sizes: [Int],
        condition: UnsafePointer<UInt8>,
        strides conditionStrides: [Int],
        _ x: UnsafePointer<Float>,
        strides xStrides: [Int],
        _ y: UnsafePointer<Float>,
        strides yStrides: [Int],
        into z: UnsafeMutablePointer<Float>
    ) {
        precondition(sizes.count <= maximumRank, "rank \(sizes.count)")
        cml_select_map(sizes.count, sizes, condition, conditionStrides, x, xStrides, y, yStrides, z)
    }

    /// `y[o][c][i] = function(x[o][c][i]·scale[c] + shift[c])` for `[outer][channels][inner]`: batch normalisation of
    /// either layout; `y` may be `x`, no scale is 1, no shift is 0.
    package static func scaleShift(
        _ x: UnsafePointer<Float>,
        into y: UnsafeMutablePointer<Float>,
        outer: Int,
        channels: Int,
        inner: Int,
        scale: UnsafePointer<Float>?,
        shift: UnsafePointer<Float>?,
        function: UnaryFunction = .identity
    ) {
        let (function, alpha, beta) = function.lowered
        cml_scale_shift(cml_isa_current(), x, y, outer, channels, inner, scale, shift, function, alpha, beta)
    }
}
