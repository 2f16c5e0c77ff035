import Glibc
package import MLGraph
package import MLKernels

package struct SumOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_sum"]
    package static let kernel = ReductionKernel.Operation.sum
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(0, +) }
}

package struct MeanOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_mean"]
    package static let kernel = ReductionKernel.Operation.mean
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(0, +) / Double(elements.count) }
}

package struct ProductOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_prod"]
    package static let kernel = ReductionKernel.Operation.product
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(1, *) }
}

package struct LargestElement: ReductionFunction {
    package static let names: [MILName] = ["reduce_max"]
    package static let kernel = ReductionKernel.Operation.maximum
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double {
        elements.reduce(-.infinity) { $0.isNaN ? $0 : $1.isNaN ? $1 : max($0, $1) }
    }
}

package struct SmallestElement: ReductionFunction {
    package static let names: [MILName] = ["reduce_min"]
    package static let kernel = ReductionKernel.Operation.minimum
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double {
        elements.reduce(.infinity) { $0.isNaN ? $0 : $1.isNaN ? $1 : min($0, $1) }
    }
}

/// `Σ |x|`.
package struct L1NormOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_l1_norm"]
    package static let kernel = ReductionKernel.Operation.l1Norm
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(0) { $0 + Swift.abs($1) } }
}

/// `√(Σ x²)`.
package struct L2NormOfElements: ReductionFunction {
    package static let names: [MILName] = ["reduce_l2_norm"]
    package static let kernel = ReductionKernel.Operation.l2Norm
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double {
        elements.reduce(0) { $0 + $1 * $1 }.squareRoot()
    }
}

/// `Σ x²`.
package struct SumOfSquares: ReductionFunction {
    package static let names: [MILName] = ["reduce_sum_square"]
    package static let kernel = ReductionKernel.Operation.sumOfSquares
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { elements.reduce(0) { $0 + $1 * $1 } }
}

/// `log(Σ x)`.
package struct LogOfSum: ReductionFunction {
    package static let names: [MILName] = ["reduce_log_sum"]
    package static let kernel = ReductionKernel.Operation.logSum
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double { log(elements.reduce(0, +)) }
}

/// `log(Σ eˣ)`, without overflow.
package struct LogOfSumOfExponentials: ReductionFunction {
    package static let names: [MILName] = ["reduce_log_sum_exp"]
    package static let kernel = ReductionKernel.Operation.logSumExp
    package init() {}
    package func callAsFunction(_ elements: [Double]) -> Double {
        let largest = elements.max() ?? -.infinity
        guard largest.isFinite else { return largest }
        return log(elements.reduce(0) { $0 + exp($1 - largest) }) + largest
    }
}
