package import MLGraph
import MLKernels
package import MLNumerics

/// The gradient of a pool: to the first of the largest elements of each window, to all in equal parts, or in proportion
/// to them.
///
/// Operands: x [N, C, spatial…], y = the pool of x, dy like y. Result: like x.
package struct PoolingGradient<Function: PoolingFunction>: Operator {
    package var pool: Pooling<Function>

    package init(_ pool: Pooling<Function>) { self.pool = pool }

    package var displayName: String { "\(Function.milName.name)_gradient" }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        _ = try unified(operands.shape(1), operands.shape(2))
        return [try operands.type(0)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        var result = [Double](repeating: 0, count: x.count)
        let shape = operands[1].shape
        let (input, y, dy) = (x.values, operands[1].values, operands[2].values)
        let window = pool.geometry(x.shape, shape).volumetric
        for slice in 0..<shape[0] * shape[1] {
            var out = slice * window.outputCount
            let start = slice * window.inputCount
            for d in 0..<window.output[0] {
                for h in 0..<window.output[1] {
                    for w in 0..<window.output[2] {
                        var isOpen = true
                        var count = 0
                        window.forEachTap(d, h, w) { _, _ in count += 1 }
                        if !pool.excludesPadding { count = pool.paddedCount(window, [d, h, w]) }
                        window.forEachTap(d, h, w) { position, _ in
                            let value = input[start + position]
                            if Function.self == Maximum.self {
                                guard isOpen, value == y[out] else { return }
                                isOpen = false
                                result[start + position] += dy[out]
                            } else if Function.self == Average.self {
                                result[start + position] += dy[out] / Double(Swift.max(count, 1))
                            } else if y[out] != 0 {
                                result[start + position] += dy[out] * value / y[out]
                            }
                        }
                        out += 1
                    }
                }
            }
        }
        return [Tensor(values: result, scalarType: operands.scalarType(), shape: x.shape)]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let x = request.operand(0), let y = request.operand(1), x.count > 0, y.count > 0,
            (request.operands + request.results.map(Optional.some)).allSatisfy({ $0?.layout == .rowMajor })
        else { return [] }
        let window = pool.geometry(x.logicalShape, y.logicalShape).volumetric
        let slices = x.logicalShape[0] * x.logicalShape[1]
        let kernel = PoolingGradientKernel(
            inputCount: window.inputCount,
            taps: taps(window),
            rule: rule(window),
            pairs: Function.self == Maximum.self
                ? ColumnPairs(window.kernelGeometry(batch: 1), kernel: window.kernel) : nil
        )
        return [
            Kernel("spread") { context in
                kernel.run(
                    context.floats(0),
                    context.floats(1),
                    context.floats(2),
                    into: context.resultFloats(),
                    slices: slices
                )
            }
        ]
    }

    /// The input elements under each position of the window.
    private func taps(_ window: WindowGeometry) -> PlaneTaps {
        var taps = PlaneTaps()
        window.forEachPosition { d, h, w in
            window.forEachTap(d, h, w) { position, _ in taps.append(position) }
            taps.endElement()
        }
        return taps
    }

    private func rule(_ window: WindowGeometry) -> PoolingGradientKernel.Rule {
        if Function.self == Maximum.self { return .first }
        guard Function.self == Average.self else { return .proportional }
        var shares: [Float] = []
        window.forEachPosition { d, h, w in
            var count = 0
            if pool.excludesPadding {
                window.forEachTap(d, h, w) { _, _ in count += 1 }
            } else {
                count = pool.paddedCount(window, [d, h, w])
            }
            shares.append(1 / Float(Swift.max(count, 1)))
        }
        return .equal(shares)
    }
}

extension WindowGeometry {
    /// Calls `body` with every output position of a window of three spatial axes.
    fileprivate func forEachPosition(_ body: (_ d: Int, _ h: Int, _ w: Int) -> Void) {
        for d in 0..<output[0] {
            for h in 0..<output[1] {
                for w in 0..<output[2] { body(d, h, w) }
            }
        }
    }
}
