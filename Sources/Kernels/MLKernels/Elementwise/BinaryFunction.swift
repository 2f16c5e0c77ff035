import CMLKernels

extension ElementwiseKernel {
    /// A function of two numbers, as `BinaryKernel` applies it.
    package enum BinaryFunction: Hashable, Sendable, CaseIterable {
        case add, subtract, multiply
        /// Integer division truncates towards zero, and gives 0 when dividing by 0.
        case divide
        /// NaN when either operand is.
        case maximum, minimum
        case power
        /// ⌊a/b⌋; for integers 0 when dividing by 0.
        case floorDivide
        /// a − b·⌊a/b⌋, with the sign of b; for integers 0 when dividing by 0.
        case modulo
        /// (a − b)²
        case squaredDifference
        /// Comparisons, whose results are bytes 0 or 1.
        case equal, notEqual, less, lessEqual, greater, greaterEqual
        /// Functions of bytes, where any value but 0 is true.
        case and, or, xor

        package var isComparison: Bool { lowered.rawValue >= CML_EQUAL.rawValue }

        var lowered: cml_binary {
            switch self {
            case .add: CML_ADD
            case .subtract: CML_SUBTRACT
            case .multiply: CML_MULTIPLY
            case .divide: CML_DIVIDE
            case .maximum: CML_MAXIMUM
            case .minimum: CML_MINIMUM
            case .power: CML_POWER
            case .floorDivide: CML_FLOOR_DIVIDE
            case .modulo: CML_MODULO
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
}
