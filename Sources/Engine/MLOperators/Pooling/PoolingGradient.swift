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
                        window.forEachTap(d, h, w) { place, _ in
                            let value = input[start + place]
                            if Function.self == Maximum.self {
                                guard isOpen, value == y[out] else { return }
                                isOpen = false
                                result[start + place] += dy[out]
                            } else if Function.self == Average.self {
                                result[start + place] += dy[out] / Double(Swift.max(count, 1))
                            } else if y[out] != 0 {
                                result[start + place] += dy[out] * value / y[out]
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
        let places = PlaneTaps(window)
        let pairs = ColumnPairs(window)
        let shares: [Float] = places.map { index, taps in
            let (d, rest) = index.quotientAndRemainder(dividingBy: window.output[1] * window.output[2])
            let (h, w) = rest.quotientAndRemainder(dividingBy: window.output[2])
            let count = pool.excludesPadding ? taps : pool.paddedCount(window, [d, h, w])
            return 1 / Float(Swift.max(count, 1))
        }
        return [
            Kernel("spread") { context in
                let (x, y, dy) = (context.floats(0), context.floats(1), context.floats(2))
                let dx = context.resultFloats()
                let grain = Swift.max(1, 8192 / Swift.max(window.inputCount, 1))
                Workers.parallelFor((slices + grain - 1) / grain) { part, _ in
                    for slice in part * grain..<Swift.min((part + 1) * grain, slices) {
                        let source = x + slice * window.inputCount
                        let target = dx + slice * window.inputCount
                        target.update(repeating: 0, count: window.inputCount)
                        let (value, flow) = (y + slice * window.outputCount, dy + slice * window.outputCount)
                        if Function.self == Maximum.self, let pairs {
                            pairs.spreadToFirst(source, value, flow, into: target)
                        } else if Function.self == Maximum.self {
                            places.spreadToFirst(source, value, flow, into: target)
                        } else if Function.self == Average.self {
                            places.spread(flow, shares, into: target)
                        } else {
                            places.spread(source, value, flow, into: target)
                        }
                    }
                }
            }
        ]
    }
}

/// For each element of a pool's result the runs of input elements under the window.
private struct PlaneTaps: Sendable {
    /// The first run of each element, and finally the number of runs.
    private var firstRuns: [Int32] = [0]
    private var starts: [Int32] = []
    private var counts: [Int32] = []

    init(_ window: WindowGeometry) {
        for d in 0..<window.output[0] {
            for h in 0..<window.output[1] {
                for w in 0..<window.output[2] {
                    var last = -2
                    window.forEachTap(d, h, w) { place, _ in
                        if place == last + 1 {
                            counts[counts.count - 1] += 1
                        } else {
                            starts.append(Int32(clamping: place))
                            counts.append(1)
                        }
                        last = place
                    }
                    firstRuns.append(Int32(starts.count))
                }
            }
        }
    }

    private var placeCount: Int { firstRuns.count - 1 }

    /// A number for each element from its index and the number of input elements under the window.
    func map(_ transform: (_ index: Int, _ taps: Int) -> Float) -> [Float] {
        (0..<placeCount).map { index in
            let runs = Int(firstRuns[index])..<Int(firstRuns[index + 1])
            return transform(index, runs.reduce(0) { $0 + Int(counts[$1]) })
        }
    }

    private func forEachTap(_ body: (_ place: Int, _ tap: Int) -> Void) {
        firstRuns.withUnsafeBufferPointer { firstRuns in
            starts.withUnsafeBufferPointer { starts in
                counts.withUnsafeBufferPointer { counts in
                    for place in 0..<firstRuns.count - 1 {
                        for run in Int(firstRuns[place])..<Int(firstRuns[place + 1]) {
                            let start = Int(starts[run])
                            for tap in start..<start + Int(counts[run]) { body(place, tap) }
                        }
                    }
                }
            }
        }
    }

    /// Branch-free, because the position of the largest element is unpredictable.
    func spreadToFirst(
        _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>
    ) {
        firstRuns.withUnsafeBufferPointer { firstRuns in
            starts.withUnsafeBufferPointer { starts in
                counts.withUnsafeBufferPointer { counts in
                    for place in 0..<firstRuns.count - 1 {
                        let greatest = y[place]
                        var rest = dy[place]
                        for run in Int(firstRuns[place])..<Int(firstRuns[place + 1]) {
                            let start = Int(starts[run])
                            for tap in start..<start + Int(counts[run]) {
                                let isFirst = x[tap] == greatest
                                dx[tap] += isFirst ? rest : 0
                                rest = isFirst ? 0 : rest
                            }
                        }
                    }
                }
            }
        }
    }

    func spread(_ dy: UnsafePointer<Float>, _ shares: [Float], into dx: UnsafeMutablePointer<Float>) {
        shares.withUnsafeBufferPointer { shares in
            forEachTap { place, tap in dx[tap] += dy[place] * shares[place] }
        }
    }

    func spread(
        _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>
    ) {
        forEachTap { place, tap in
            if y[place] != 0 { dx[tap] += dy[place] * x[tap] / y[place] }
        }
    }
}

/// Windows of two columns that are next to each other: many are processed at once.
private struct ColumnPairs: Sendable {
    private let window: WindowGeometry

    /// `nil` for other windows, and for those that overlap or extend over the border.
    init?(_ window: WindowGeometry) {
        guard window.kernel[2] == 2, window.strides[2] == 2, window.before == [0, 0, 0],
            (0..<3).allSatisfy({ axis in
                window.strides[axis] >= window.kernel[axis]
                    && (window.output[axis] - 1) * window.strides[axis] + window.kernel[axis] <= window.input[axis]
            })
        else { return nil }
        self.window = window
    }

    func spreadToFirst(
        _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>
    ) {
        let width = window.output[2]
        withUnsafeTemporaryAllocation(of: Float.self, capacity: width) { buffer in
            guard let rest = buffer.baseAddress else { return }
            for d in 0..<window.output[0] {
                for h in 0..<window.output[1] {
                    let row = (d * window.output[1] + h) * width
                    rest.update(from: dy + row, count: width)
                    for a in 0..<window.kernel[0] {
                        for b in 0..<window.kernel[1] {
                            let depth = d * window.strides[0] + a
                            let start = (depth * window.input[1] + h * window.strides[1] + b) * window.input[2]
                            Self.spread(x + start, y + row, rest, into: dx + start, count: width)
                        }
                    }
                }
            }
        }
    }

    private static func spread(
        _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>,
        _ rest: UnsafeMutablePointer<Float>,
        into dx: UnsafeMutablePointer<Float>,
        count: Int
    ) {
        for index in 0..<count {
            let greatest = y[index]
            let flow = rest[index]
            let isLeft = x[2 * index] == greatest
            let left = isLeft ? 0 : flow
            let isRight = x[2 * index + 1] == greatest
            dx[2 * index] = isLeft ? flow : 0
            dx[2 * index + 1] = isRight ? left : 0
            rest[index] = isRight ? 0 : left
        }
    }
}
