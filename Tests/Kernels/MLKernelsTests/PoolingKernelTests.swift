import MLKernels
import Testing

extension KernelTests {
    @Suite struct PoolingKernelTests {
        @Test(arguments: [PoolingKernel.Operation.maximum, .mean, .meanWithPadding, .l2Norm], [1, 5, 40])
        func windows(operation: PoolingKernel.Operation, inner: Int) {
            let (batch, size, kernel, strides, before, after) = (2, [7, 9], [3, 2], [2, 3], [1, 1], [2, 0])
            let output = (0..<2).map { axis -> Int in
                let reach = size[axis] + before[axis] + after[axis] - kernel[axis]
                return reach / strides[axis] + 1
            }
            var source = NumberSource(seed: 2)
            let x = source.floats(batch * size[0] * size[1] * inner)
            var expected: [Double] = []
            for item in 0..<batch {
                for oy in 0..<output[0] {
                    for ox in 0..<output[1] {
                        for c in 0..<inner {
                            var values: [Double] = []
                            for ky in 0..<kernel[0] {
                                for kx in 0..<kernel[1] {
                                    let (y, xx) = (oy * strides[0] - before[0] + ky, ox * strides[1] - before[1] + kx)
                                    guard (0..<size[0]).contains(y), (0..<size[1]).contains(xx) else { continue }
                                    values.append(Double(x[((item * size[0] + y) * size[1] + xx) * inner + c]))
                                }
                            }
                            let sum = values.reduce(0, +)
                            switch operation {
                            case .maximum: expected.append(values.max()!)
                            case .mean: expected.append(sum / Double(values.count))
                            case .meanWithPadding: expected.append(sum / Double(kernel[0] * kernel[1]))
                            case .l2Norm: expected.append(values.reduce(0) { $0 + $1 * $1 }.squareRoot())
                            }
                        }
                    }
                }
            }
            let geometry = ConvolutionGeometry(
                batch: batch,
                inputSize: size,
                outputSize: output,
                strides: strides,
                dilations: [1, 1],
                paddingBefore: before
            )
            forEachInstructionSet { set in
                var y = [Float](repeating: 99, count: expected.count + 1)
                PoolingKernel.pool(
                    operation,
                    x,
                    into: &y,
                    geometry,
                    kernel: kernel,
                    paddingAfter: after,
                    inner: inner
                )
                #expect(worstError(y, expected) < 1e-6, "\(set)")
                #expect(y.last == 99)
            }
        }

        /// Rows longer than vectors, with and without borders; what is no number is never the largest.
        /// Two columns at a time, beside each window by itself; small whole numbers, so that many elements are the largest.
        @Test func gradientOfPairs() {
            var source = NumberSource(seed: 4)
            for width in 1..<40 {
                let (slices, size, output) = (2, [1, 5, 2 * width + width % 2], [1, 2, width])
                let x = source.integers(slices * 5 * size[2], upTo: 2).map { Float($0) }
                let dy = source.floats(slices * 2 * width)
                var taps = PlaneTaps()
                var y: [Float] = []
                for slice in 0..<slices {
                    for row in 0..<2 {
                        for column in 0..<width {
                            let start = 2 * row * size[2] + 2 * column
                            let window = [start, start + 1, start + size[2], start + size[2] + 1]
                            y.append(window.map { x[slice * 5 * size[2] + $0] }.max()!)
                            guard slice == 0 else { continue }
                            for position in window { taps.append(position) }
                            taps.endElement()
                        }
                    }
                }
                let geometry = ConvolutionGeometry(
                    batch: 1,
                    inputSize: size,
                    outputSize: output,
                    strides: [2, 2, 2],
                    dilations: [1, 1, 1],
                    paddingBefore: [0, 0, 0]
                )
                let pairs = ColumnPairs(geometry, kernel: [1, 2, 2])
                #expect(pairs != nil)
                let inputCount = 5 * size[2]
                forEachInstructionSet { set in
                    let results = [pairs, nil].map { pairs in
                        var dx = [Float](repeating: 99, count: slices * inputCount + 1)
                        let kernel = PoolingGradientKernel(
                            inputCount: inputCount,
                            taps: taps,
                            rule: .first,
                            pairs: pairs
                        )
                        kernel.run(x, y, dy, into: &dx, slices: slices)
                        return dx
                    }
                    #expect(results[0] == results[1], "\(set), \(width) columns")
                    #expect(results[0].last == 99)
                }
            }
        }

        @Test(arguments: [1, 2, 3], [(2, 1), (3, 1), (2, 2), (4, 1)])
        func longRows(stride: Int, window: (taps: Int, dilation: Int)) {
            let (rows, width) = (3, 171)
            let reach = (window.taps - 1) * window.dilation + 1
            var source = NumberSource(seed: 8)
            var x = source.floats(rows * width)
            x[width] = .nan
            for padding in [0, 1] {
                let output = (width + padding - reach) / stride + 1
                let geometry = ConvolutionGeometry(
                    batch: rows,
                    inputSize: [width],
                    outputSize: [output],
                    strides: [stride],
                    dilations: [window.dilation],
                    paddingBefore: [padding]
                )
                for operation in [PoolingKernel.Operation.maximum, .mean] {
                    let expected = (0..<rows * output).map { index -> Double in
                        let first = index % output * stride - padding
                        let places = (0..<window.taps).map { first + $0 * window.dilation }
                        let values = places.filter { (0..<width).contains($0) }
                            .map { Double(x[index / output * width + $0]) }
                        if operation == .maximum { return values.filter { !$0.isNaN }.max() ?? -.infinity }
                        return values.reduce(0, +) / Double(values.count)
                    }
                    forEachInstructionSet { set in
                        var y = [Float](repeating: 99, count: expected.count + 1)
                        PoolingKernel.pool(
                            operation,
                            x,
                            into: &y,
                            geometry,
                            kernel: [window.taps],
                            paddingAfter: [0],
                            inner: 1
                        )
                        #expect(
                            zip(y, expected).allSatisfy {
                                Double($0) == $1 || $0.isNaN && $1.isNaN || abs(Double($0) - $1) < 1e-6
                            },
                            "\(set) \(operation) padding \(padding)"
                        )
                        #expect(y.last == 99)
                    }
                }
            }
        }

        /// Wider, narrower and turned rows, and rows repeated.
        @Test(arguments: [0.4, 0.5, 0.97, 1.7, 3.1, -0.5, -2.5])
        func longLines(step: Double) {
            let (batch, height, width) = (2, 3, 70)
            var source = NumberSource(seed: 16)
            let x = source.floats(batch * height * width)
            let start = step < 0 ? Double(width) - 1 : 0.2
            let columns = (0..<Int(Double(width) / abs(step))).map { start + Double($0) * step }
            let rows = [0, 0, 0.5, 0.5, 2, 2]
            let height0 = ResizeKernel.Axis(inputSize: height, linearAt: rows)
            let linear = ResizeKernel.Axis(inputSize: width, linearAt: columns)
            let nearest = ResizeKernel.Axis(inputSize: width, nearestAt: columns.map { Int($0) })
            for axis in [linear, nearest] {
                let expected = (0..<batch * rows.count * columns.count).map { index -> Double in
                    let (column, row) = (index % columns.count, index / columns.count % rows.count)
                    func line(_ r: Int32) -> Double {
                        let base = (index / columns.count / rows.count * height + Int(r)) * width
                        let (low, high) = (x[base + Int(axis.low[column])], x[base + Int(axis.high[column])])
                        return Double(low) + Double(axis.weight[column]) * (Double(high) - Double(low))
                    }
                    let upper = line(height0.low[row])
                    return upper + Double(height0.weight[row]) * (line(height0.high[row]) - upper)
                }
                forEachInstructionSet { set in
                    var y = [Float](repeating: 99, count: expected.count + 1)
                    ResizeKernel.resize(x, into: &y, batch: batch, height: height0, width: axis, inner: 1)
                    #expect(worstError(y, expected) < 1e-6, "\(set)")
                    #expect(y.last == 99)
                }
            }
        }

        @Test(arguments: [1, 3, 20])
        func resizing(inner: Int) {
            var source = NumberSource(seed: 6)
            let (batch, height, width) = (2, 4, 5)
            let x = source.floats(batch * height * width * inner)
            let (rows, columns) = ([-0.25, 0.25, 0.75, 1.5, 2, 3.4], [0, 0.5, 1.25, 4, 4.5])
            func sample(_ item: Int, _ y: Double, _ xx: Double, _ c: Int) -> Double {
                let (y, xx) = (min(max(y, 0), Double(height - 1)), min(max(xx, 0), Double(width - 1)))
                func at(_ r: Int, _ q: Int) -> Double {
                    Double(x[((item * height + min(r, height - 1)) * width + min(q, width - 1)) * inner + c])
                }
                let (r, q) = (Int(y), Int(xx))
                let (wr, wq) = (y - Double(r), xx - Double(q))
                let upper = at(r, q) * (1 - wq) + at(r, q + 1) * wq
                let lower = at(r + 1, q) * (1 - wq) + at(r + 1, q + 1) * wq
                return upper * (1 - wr) + lower * wr
            }
            var expected: [Double] = []
            for item in 0..<batch {
                for y in rows { for xx in columns { for c in 0..<inner { expected.append(sample(item, y, xx, c)) } } }
            }
            forEachInstructionSet { set in
                var y = [Float](repeating: 99, count: expected.count)
                ResizeKernel.resize(
                    x,
                    into: &y,
                    batch: batch,
                    height: .init(inputSize: height, linearAt: rows),
                    width: .init(inputSize: width, linearAt: columns),
                    inner: inner
                )
                #expect(worstError(y, expected) < 1e-6, "\(set)")
                var nearest = [Float](repeating: 99, count: batch * 2 * 3 * inner)
                ResizeKernel.resize(
                    x,
                    into: &nearest,
                    batch: batch,
                    height: .init(inputSize: height, nearestAt: [3, 0]),
                    width: .init(inputSize: width, nearestAt: [4, 9, -1]),
                    inner: inner
                )
                #expect(nearest[0] == x[(3 * width + 4) * inner] && nearest[2 * inner] == x[3 * width * inner])
            }
        }
    }
}
