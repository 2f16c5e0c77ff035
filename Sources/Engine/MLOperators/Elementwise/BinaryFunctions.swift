import Glibc
package import MLGraph
package import MLKernels

package struct Add: BinaryFunction {
    package static let names: [MILName] = ["add"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .add
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x + y }
}

package struct Sub: BinaryFunction {
    package static let names: [MILName] = ["sub"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .subtract
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x - y }
}

package struct Mul: BinaryFunction {
    package static let names: [MILName] = ["mul"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .multiply
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x * y }
}

/// `x / y`; truncated toward zero for integers.
package struct RealDiv: BinaryFunction {
    package static let names: [MILName] = ["real_div"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .divide
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x / y }
}

/// `⌊x / y⌋`.
package struct FloorDiv: BinaryFunction {
    package static let names: [MILName] = ["floor_div"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .floorDivide
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { (x / y).rounded(.down) }
}

/// `x − y · ⌊x / y⌋`: the remainder with the sign of `y`.
package struct Mod: BinaryFunction {
    package static let names: [MILName] = ["mod"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .modulo
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double {
        let remainder = fmod(x, y)
        return remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder
    }
}

package struct Pow: BinaryFunction {
    package static let names: [MILName] = ["pow"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .power
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { pow(x, y) }
}

package struct Max: BinaryFunction {
    package static let names: [MILName] = ["maximum"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .maximum
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x.isNaN ? x : y.isNaN ? y : max(x, y) }
}

package struct Min: BinaryFunction {
    package static let names: [MILName] = ["minimum"]
    package static let kernel: ElementwiseKernel.BinaryFunction? = .minimum
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x.isNaN ? x : y.isNaN ? y : min(x, y) }
}

package struct Equal: BinaryFunction {
    package static let names: [MILName] = ["equal"]
    package static let isPredicate = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .equal
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x == y ? 1 : 0 }
}

package struct NotEqual: BinaryFunction {
    package static let names: [MILName] = ["not_equal"]
    package static let isPredicate = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .notEqual
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x != y ? 1 : 0 }
}

package struct Greater: BinaryFunction {
    package static let names: [MILName] = ["greater"]
    package static let isPredicate = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .greater
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x > y ? 1 : 0 }
}

package struct GreaterEqual: BinaryFunction {
    package static let names: [MILName] = ["greater_equal"]
    package static let isPredicate = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .greaterEqual
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x >= y ? 1 : 0 }
}

package struct Less: BinaryFunction {
    package static let names: [MILName] = ["less"]
    package static let isPredicate = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .less
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x < y ? 1 : 0 }
}

package struct LessEqual: BinaryFunction {
    package static let names: [MILName] = ["less_equal"]
    package static let isPredicate = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .lessEqual
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x <= y ? 1 : 0 }
}

package struct LogicalAnd: BinaryFunction {
    package static let names: [MILName] = ["logical_and"]
    package static let isPredicate = true
    package static let isLogic = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .and
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x != 0 && y != 0 ? 1 : 0 }
}

package struct LogicalOr: BinaryFunction {
    package static let names: [MILName] = ["logical_or"]
    package static let isPredicate = true
    package static let isLogic = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .or
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { x != 0 || y != 0 ? 1 : 0 }
}

package struct LogicalXor: BinaryFunction {
    package static let names: [MILName] = ["logical_xor"]
    package static let isPredicate = true
    package static let isLogic = true
    package static let kernel: ElementwiseKernel.BinaryFunction? = .xor
    package init() {}
    package func callAsFunction(_ x: Double, _ y: Double) -> Double { (x != 0) != (y != 0) ? 1 : 0 }
}
