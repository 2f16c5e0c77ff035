#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
package import MLGraph
package import MLNumerics

/// Local response normalisation: y = x / (k + alpha / size · Σ x²) ^ beta, summed over the `size` channels around each
/// one; of an even number the extra one is in front.
///
/// Operand: x [N, C, …], or [C, H, W] of rank 3. Result: like x.
package struct LocalResponseNorm: Operator {
    package static let names: [MILName] = ["local_response_norm"]

    package var size: Int
    package var alpha: Double
    package var beta: Double
    package var k: Double

    package init(size: Int, alpha: Double = 1e-4, beta: Double = 0.75, k: Double = 1) {
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        size = try arguments.int("size")
        alpha = try arguments.float("alpha", default: 1e-4)
        beta = try arguments.float("beta", default: 0.75)
        k = try arguments.float("k", default: 1)
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard x.rank >= 2, size > 0 else {
            throw ModelError(
                .invalidModel,
                "local_response_norm needs x of rank 2 or more and size > 0, not \(x), \(size)"
            )
        }
        return [x]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let axis = channelAxis(rank: x.shape.count)
        let channels = x.shape[axis]
        let inner = x.shape.dropFirst(axis + 1).reduce(1, *)
        let values = x.values
        var result = values
        for index in values.indices {
            let channel = index / inner % channels
            var energy = 0.0
            for other in Swift.max(channel - size / 2, 0)...Swift.min(channel + (size - 1) / 2, channels - 1) {
                let value = values[index + (other - channel) * inner]
                energy += value * value
            }
            result[index] = values[index] / pow(k + alpha / Double(size) * energy, beta)
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: x.shape)]
    }

    func channelAxis(rank: Int) -> Int { rank == 3 ? 0 : 1 }
}
