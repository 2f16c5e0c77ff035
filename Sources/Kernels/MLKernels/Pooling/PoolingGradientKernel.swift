import CMLKernels

/// The gradients of pools of row-major planes: to the first of the largest elements of each window, to all in equal
/// parts, or in proportion to them.
package struct PoolingGradientKernel: Sendable {
    package enum Rule: Sendable {
        /// To the first element that equals the result, for maxima.
        case first
        /// To all elements, for means: a share for each element of the result.
        case equal([Float])
        /// In proportion to the elements, for Euclidean lengths.
        case proportional
    }

    private let inputCount: Int
    private let taps: PlaneTaps
    private let rule: Rule
    private let pairs: ColumnPairs?

    /// The gradient of a pool of planes.
    ///
    /// - Parameters:
    ///   - inputCount: The number of elements of a plane of the operand.
    ///   - taps: The elements under the window of each element of a plane of the result.
    ///   - rule: The distribution among them.
    ///   - pairs: A faster form of `taps` for the rule `first`; `nil` when the window has none.
    package init(inputCount: Int, taps: PlaneTaps, rule: Rule, pairs: ColumnPairs?) {
        self.inputCount = inputCount
        self.taps = taps
        self.rule = rule
        self.pairs = pairs
    }

    /// Writes the gradient of x.
    ///
    /// - Parameters:
    ///   - x: The operand, `slices` planes of `inputCount` elements.
    ///   - y: The result of the pool, `slices` planes.
    ///   - dy: The gradient of the result.
    ///   - dx: The gradient of the operand.
    ///   - slices: The number of planes.
    package func run(
        _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>,
        slices: Int
    ) {
        let outputCount = taps.count
        let grain = max(1, 8192 / max(inputCount, 1))
        Workers.parallelFor((slices + grain - 1) / grain) { part, _ in
            for slice in part * grain..<min((part + 1) * grain, slices) {
                let source = x + slice * inputCount
                let target = dx + slice * inputCount
                target.update(repeating: 0, count: inputCount)
                let (value, gradient) = (y + slice * outputCount, dy + slice * outputCount)
                switch rule {
                case .first:
                    if let pairs {
                        pairs.distributeToFirst(source, value, gradient, into: target)
                    } else {
                        taps.distributeToFirst(source, value, gradient, into: target)
                    }
                case .equal(let shares): taps.distribute(gradient, shares, into: target)
                case .proportional: taps.distribute(source, value, gradient, into: target)
                }
            }
        }
    }
}

/// For each element of a pool's result the runs of input elements under the window.
package struct PlaneTaps: Sendable {
    /// The first run of each element, and finally the number of runs.
    private var firstRuns: [Int32] = [0]
    private var starts: [Int32] = []
    private var counts: [Int32] = []

    package init() {}

    /// Adds an input element under the window of the element that is being described.
    package mutating func append(_ position: Int) {
        if let start = starts.last, starts.count > Int(firstRuns[firstRuns.count - 1]),
            position == Int(start) + Int(counts[counts.count - 1])
        {
            counts[counts.count - 1] += 1
        } else {
            starts.append(Int32(clamping: position))
            counts.append(1)
        }
    }

    /// Ends the description of an element of the result; the next one follows.
    package mutating func endElement() { firstRuns.append(Int32(starts.count)) }

    /// The number of elements of the result.
    var count: Int { firstRuns.count - 1 }

    private func forEachTap(_ body: (_ position: Int, _ tap: Int) -> Void) {
        firstRuns.withUnsafeBufferPointer { firstRuns in
            starts.withUnsafeBufferPointer { starts in
                counts.withUnsafeBufferPointer { counts in
                    for position in 0..<firstRuns.count - 1 {
                        for run in Int(firstRuns[position])..<Int(firstRuns[position + 1]) {
                            let start = Int(starts[run])
                            for tap in start..<start + Int(counts[run]) { body(position, tap) }
                        }
                    }
                }
            }
        }
    }

    /// Branch-free, because the position of the largest element is unpredictable.
    func distributeToFirst(
        _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>
    ) {
        firstRuns.withUnsafeBufferPointer { firstRuns in
            starts.withUnsafeBufferPointer { starts in
                counts.withUnsafeBufferPointer { counts in
                    for position in 0..<firstRuns.count - 1 {
                        let maximum = y[position]
                        var rest = dy[position]
                        for run in Int(firstRuns[position])..<Int(firstRuns[position + 1]) {
                            let start = Int(starts[run])
                            for tap in start..<start + Int(counts[run]) {
                                let isFirst = x[tap] == maximum
                                dx[tap] += isFirst ? rest : 0
                                rest = isFirst ? 0 : rest
                            }
                        }
                    }
                }
            }
        }
    }

    func distribute(_ dy: UnsafePointer<Float>, _ shares: [Float], into dx: UnsafeMutablePointer<Float>) {
        shares.withUnsafeBufferPointer { shares in
            forEachTap { position, tap in dx[tap] += dy[position] * shares[position] }
        }
    }

    func distribute(
        _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>
    ) {
        forEachTap { position, tap in
            if y[position] != 0 { dx[tap] += dy[position] * x[tap] / y[position] }
        }
    }
}

/// Windows of two columns that are next to each other: many are processed at once.
package struct ColumnPairs: Sendable {
    private let window: ConvolutionGeometry
    private let kernel: [Int]

    /// `nil` for other windows, and for those that overlap or extend over the border.
    ///
    /// - Parameters:
    ///   - geometry: The sizes of operand and result, with three spatial axes, strides and padding.
    ///   - kernel: The size of the window.
    package init?(_ geometry: ConvolutionGeometry, kernel: [Int]) {
        guard kernel[2] == 2, geometry.strides[2] == 2, geometry.paddingBefore == [0, 0, 0],
            (0..<3).allSatisfy({ axis in
                geometry.strides[axis] >= kernel[axis]
                    && (geometry.outputSize[axis] - 1) * geometry.strides[axis] + kernel[axis]
                        <= geometry.inputSize[axis]
            })
        else { return nil }
        window = geometry
        self.kernel = kernel
    }

    func distributeToFirst(
        _ x: UnsafePointer<Float>,
        _ y: UnsafePointer<Float>,
        _ dy: UnsafePointer<Float>,
        into dx: UnsafeMutablePointer<Float>
    ) {
        let width = window.outputSize[2]
        let instructionSet = cml_isa_current()
        withUnsafeTemporaryAllocation(of: Float.self, capacity: width) { buffer in
            guard let rest = buffer.baseAddress else { return }
            for d in 0..<window.outputSize[0] {
                for h in 0..<window.outputSize[1] {
                    let row = (d * window.outputSize[1] + h) * width
                    rest.update(from: dy + row, count: width)
                    for a in 0..<kernel[0] {
                        for b in 0..<kernel[1] {
                            let depth = d * window.strides[0] + a
                            let start = (depth * window.inputSize[1] + h * window.strides[1] + b) * window.inputSize[2]
                            cml_pool_pairs_back(instructionSet, x + start, y + row, rest, dx + start, width)
                        }
                    }
                }
            }
        }
    }
}
