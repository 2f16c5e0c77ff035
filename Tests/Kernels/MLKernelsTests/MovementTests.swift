import MLKernels
import Testing

extension KernelTests {
    @Suite struct MovementTests {
        /// The element at every index of `shape`, outermost axis first.
        static func indices(_ shape: [Int]) -> [[Int]] {
            shape.reduce([[]]) { heads, extent in heads.flatMap { head in (0..<extent).map { head + [$0] } } }
        }

        static func offset(_ index: [Int], _ strides: [Int]) -> Int {
            zip(index, strides).reduce(0) { $0 + $1.0 * $1.1 }
        }

        static func strides(_ shape: [Int]) -> [Int] {
            shape.indices.map { shape[($0 + 1)...].reduce(1, *) }
        }

        static let permutations: [([Int], [Int])] = [
            ([7], [0]), ([5, 3], [1, 0]), ([33, 47], [1, 0]), ([2, 3, 50], [0, 2, 1]), ([2, 50, 3], [0, 2, 1]),
            ([1, 64, 17, 19], [0, 2, 3, 1]), ([2, 17, 19, 40], [0, 3, 1, 2]), ([2, 9, 4, 16], [0, 2, 1, 3]),
            ([3, 4, 5, 6, 7], [4, 2, 0, 3, 1]), ([2, 3, 1, 4], [3, 2, 1, 0]), ([3, 120, 70], [2, 1, 0]),
            ([1, 200, 129], [0, 2, 1]), ([0, 3], [1, 0]), ([], []),
        ]

        @Test(arguments: [1, 2, 4, 8])
        func permutation(bytes: Int) {
            for (shape, permutation) in Self.permutations {
                let count = shape.reduce(1, *)
                var source = NumberSource(seed: UInt64(count + bytes))
                let x = (0..<count * bytes).map { _ in UInt8(truncatingIfNeeded: Int(source.next() * 1000)) }
                let result = permutation.map { shape[$0] }
                let strides = permutation.map { Self.strides(shape)[$0] }
                let expected = Self.indices(result).flatMap { index in
                    let at = Self.offset(index, strides) * bytes
                    return x[at..<at + bytes]
                }
                forEachInstructionSet { set in
                    var y = [UInt8](repeating: 7, count: count * bytes + 1)
                    StridedCopy(permuting: shape, by: permutation, elementByteCount: bytes).run(x, &y)
                    #expect(Array(y.dropLast()) == expected, "\(set) \(shape) by \(permutation)")
                    #expect(y.last == 7)
                }
            }
        }

        @Test func transposition() {
            for (rows, columns) in [(1, 9), (16, 16), (15, 33), (40, 200), (3, 500), (500, 3)] {
                let x = (0..<2 * rows * columns).map { Float($0) }
                forEachInstructionSet { set in
                    var y = [Float](repeating: -1, count: x.count)
                    Transposition.run(x, &y, batch: 2, rows: rows, columns: columns)
                    let expected = Self.indices([2, columns, rows]).map { x[($0[0] * rows + $0[2]) * columns + $0[1]] }
                    #expect(y == expected, "\(set) \(rows)×\(columns)")
                }
            }
        }

        @Test func stridedViews() {
            // A slice with steps, a reversal and a repetition in one copy.
            let x = (0..<6 * 8).map { Int32($0) }
            var y = [Int32](repeating: -1, count: 2 * 3 * 4)
            x.withUnsafeBufferPointer { x in
                StridedCopy(
                    extents: [2, 3, 4],
                    sourceStrides: [0, 16, -2],
                    targetStrides: [12, 4, 1],
                    elementByteCount: 4
                ).run(x.baseAddress! + 7, &y)
            }
            #expect(y == Self.indices([2, 3, 4]).map { Int32($0[1] * 16 + 7 - 2 * $0[2]) })
        }

        @Test func concatenation() {
            let widths = [3, 1, 70, 0]
            let concatenation = Concatenation(outer: 500, widths: widths, elementByteCount: 4)
            let parts = widths.enumerated().map { part, width in
                (0..<500 * width).map { Float(part * 100_000 + $0) }
            }
            var whole = [Float](repeating: -1, count: 500 * 74)
            for (index, part) in parts.enumerated() { concatenation.join(index, part, into: &whole) }
            var expected: [Float] = []
            for row in 0..<500 {
                for (part, width) in zip(parts, widths) { expected += part[row * width..<(row + 1) * width] }
            }
            #expect(whole == expected)
            for (index, part) in parts.enumerated() {
                var copy = [Float](repeating: -1, count: part.count)
                concatenation.split(index, whole, into: &copy)
                #expect(copy == part)
            }
        }

        @Test func indexedCopies() {
            let selections: [[[Int?]]] = [
                [[nil, 0, 1, 2, 3, nil, nil], [1, 0, 0, 1, 2], [4, 3, 2, 1, 0]],
                [[0, 3], [0, 1, 2], [0, 1, 2, 3, 4]],
                [[3, 2, 1, 0], [2, nil], [0, 0, 1, 1, 2, 2, nil, nil, 4, 2]],
                [[0, 1, 2, 3], [0, 1, 2], [nil, 0, 1, 2, 3, 4, nil]],
                [[0, 1, 2, 3], [0, 1, 2], [0, 1, 2, 3, 4]],
                [[1], [], [1]],
            ]
            let shape = [4, 3, 5]
            let x = (0..<60).map { Float($0) }
            for selection in selections {
                let expected = selection[0].flatMap { i in
                    selection[1].flatMap { j in
                        selection[2].map { k -> Float in
                            guard let i, let j, let k else { return -9 }
                            return x[i * 15 + j * 5 + k]
                        }
                    }
                }
                var y = [Float](repeating: 1, count: expected.count)
                var constant: Float = -9
                IndexedCopy(sourceShape: shape, selections: selection, elementByteCount: 4)
                    .run(x, &y, constant: &constant)
                #expect(y == expected, "\(selection)")
            }
        }

        @Test func gathering() {
            var source = NumberSource(seed: 3)
            let (outer, axis, inner) = (3, 11, 37)
            let x = source.floats(outer * axis * inner)
            let half = x.map { Float16($0).bitPattern }
            let indices: [Int32] = [0, 10, 5, -1, -11, 99, -99, 3]
            let resolved = [0, 10, 5, 10, 0, 10, 0, 3]
            var expected: [Float] = []
            for o in 0..<outer {
                for index in resolved {
                    let start = (o * axis + index) * inner
                    expected += x[start..<start + inner]
                }
            }
            forEachInstructionSet { set in
                var y = [Float](repeating: 9, count: expected.count)
                GatherKernel.run(
                    x,
                    outer: outer,
                    axis: axis,
                    inner: inner,
                    elementByteCount: 4,
                    indices: indices,
                    count: indices.count,
                    into: &y
                )
                #expect(y == expected)
                GatherKernel.run(
                    half: half,
                    outer: outer,
                    axis: axis,
                    inner: inner,
                    indices: indices,
                    count: indices.count,
                    into: &y
                )
                #expect(y == expected.map { Float(Float16($0)) }, "\(set)")
            }
        }

        @Test func conversions() {
            let numbers: [Float] = [0, 1, -1, 0.5, -0.5, 2.9, -2.9, 300, -300, 70000, 3e9, -3e9, .infinity, .nan]
            let x = (0..<200).flatMap { _ in numbers }
            forEachInstructionSet { set in
                var integers = [Int32](repeating: 7, count: x.count)
                Conversion.run(x, .float32, to: &integers, .int32, count: x.count)
                #expect(
                    integers
                        == x.map { $0.isNaN ? 0 : $0 >= 2_147_483_648 ? .max : $0 <= -2_147_483_648 ? .min : Int32($0) }
                )
                var bytes = [UInt8](repeating: 7, count: x.count)
                Conversion.run(x, .float32, to: &bytes, .uint8, count: x.count)
                #expect(bytes == x.map { $0.isNaN ? 0 : UInt8(min(max($0, 0), 255)) })
                Conversion.run(x, .float32, to: &bytes, .bool, count: x.count)
                #expect(bytes == x.map { $0 == 0 ? 0 : 1 })
                var half = [UInt16](repeating: 7, count: x.count)
                Conversion.run(x, .float32, to: &half, .float16, count: x.count)
                #expect(
                    zip(half, x).allSatisfy { $1.isNaN ? Float16(bitPattern: $0).isNaN : $0 == Float16($1).bitPattern }
                )
                var back = [Float](repeating: 7, count: x.count)
                Conversion.run(half, .float16, to: &back, .float32, count: x.count)
                #expect(zip(back, x).allSatisfy { $1.isNaN ? $0.isNaN : $0 == Float(Float16($1)) }, "\(set)")
                var short = [Int16](repeating: 7, count: x.count)
                Conversion.run(integers, .int32, to: &short, .int16, count: x.count)
                #expect(short == integers.map { Int16(clamping: $0) })
                Conversion.run(integers, .int32, to: &half, .float16, count: x.count)
                #expect(half == integers.map { Float16(Float($0)).bitPattern })
            }
        }

        @Test func filling() {
            var y = [Float](repeating: 0, count: 100_001)
            Fill.run(&y, value: 2.5, count: 100_000)
            #expect(y.dropLast().allSatisfy { $0 == 2.5 } && y.last == 0)
        }

        @Test(arguments: [(0, 0), (2, 1), (-1, 4), (9, 0), (1, -2), (40, 40)])
        func bands(lower: Int, upper: Int) {
            for (matrices, rows, columns) in [(1, 1, 1), (3, 7, 5), (2, 5, 9), (40, 33, 47)] {
                let count = matrices * rows * columns
                let x = (0..<count).map { Int32($0 + 1) }
                let expected = x.indices.map { place in
                    let (row, column) = (place / columns % rows, place % columns)
                    return column >= row - lower && column <= row + upper ? x[place] : 0
                }
                var y = [Int32](repeating: -1, count: count)
                var inPlace = x
                BandCopy.run(
                    x,
                    into: &y,
                    matrices: matrices,
                    rows: rows,
                    columns: columns,
                    elementByteCount: 4,
                    lower: lower,
                    upper: upper
                )
                #expect(y == expected)
                inPlace.withUnsafeMutableBytes { bytes in
                    guard let address = bytes.baseAddress else { return }
                    BandCopy.run(
                        address,
                        into: address,
                        matrices: matrices,
                        rows: rows,
                        columns: columns,
                        elementByteCount: 4,
                        lower: lower,
                        upper: upper
                    )
                }
                #expect(inPlace == expected)
            }
        }

        @Test(arguments: [false, true]) func sequenceReversals(itemsFirst: Bool) {
            let (outer, first, middle, second, slice) = (3, 6, 2, 5, 3)
            let lengths: [Int32] = [0, 3, 9, -2, 5, 4]
            let x = (0..<outer * first * middle * second * slice).map { UInt8(truncatingIfNeeded: $0) }
            let steps = itemsFirst ? second : first
            let shape = [outer, first, middle, second, slice]
            let expected = Self.indices(shape).map { index in
                let (item, step) = itemsFirst ? (index[1], index[3]) : (index[3], index[1])
                let length = min(max(Int(lengths[item]), 0), steps)
                var source = index
                source[itemsFirst ? 3 : 1] = step < length ? length - 1 - step : step
                return x[Self.offset(source, Self.strides(shape))]
            }
            var y = [UInt8](repeating: 7, count: x.count)
            SequenceReversal.run(
                x,
                into: &y,
                outer: outer,
                first: first,
                middle: middle,
                second: second,
                slice: slice,
                lengths: lengths,
                itemsFirst: itemsFirst
            )
            #expect(y == expected)
        }

        @Test func oneHotVectors() {
            func check<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type, outer: Int, size: Int, inner: Int) {
                let indices = (0..<outer * inner).map { Int32($0 * 7 % (size + 4) - 2) }
                var expected = [T](repeating: 5, count: outer * size * inner)
                for (place, index) in indices.enumerated() where (0..<size).contains(Int(index)) {
                    expected[(place / inner * size + Int(index)) * inner + place % inner] = 9
                }
                var y = [T](repeating: 1, count: expected.count)
                var (on, off) = (T(9), T(5))
                OneHotKernel.run(
                    indices,
                    into: &y,
                    outer: outer,
                    size: size,
                    inner: inner,
                    elementByteCount: MemoryLayout<T>.size,
                    on: &on,
                    off: &off
                )
                #expect(y == expected)
            }
            for (outer, size, inner) in [(1, 1, 1), (5, 7, 1), (3, 4, 6), (700, 50, 20)] {
                check(UInt8.self, outer: outer, size: size, inner: inner)
                check(UInt16.self, outer: outer, size: size, inner: inner)
                check(UInt32.self, outer: outer, size: size, inner: inner)
                check(UInt64.self, outer: outer, size: size, inner: inner)
            }
        }
    }
}
