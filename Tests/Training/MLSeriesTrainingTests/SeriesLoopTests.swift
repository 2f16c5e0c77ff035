import CTraining
import MLNumerics
import Testing

/// The loops of C, with vectors of both widths, against plain ones.
@Suite struct SeriesLoopTests {
    private static func numbers(_ count: Int, seed: UInt64) -> [Float] {
        var source = SplitMix64(seed: seed)
        // Few different numbers, so that some are equal.
        return (0..<count).map { _ in Float(source.next() % 41) / 8 - 2.5 }
    }

    private static let padding = Int(CTRAINING_PADDING)

    @Test(arguments: [1, 7, 8, 9, 16, 61, 427])
    func sumsAreThoseOfPlainLoops(length: Int) {
        let distance = 3
        let x = Self.numbers(length + 8 * distance + Self.padding, seed: 1)
        let parts = (2...5).map { Self.numbers(length + Self.padding, seed: $0) }
        let negated = (0..<length).map { t in (0..<9).reduce(Float(0)) { $0 - x[t + $1 * distance] } }
        let kernel = (0..<length).map { t -> Float in
            let three: Float = parts[1][t] + parts[2][t] + parts[3][t]
            return parts[0][t] + three * 3
        }
        for wide: Int32 in [0, 1] {
            var result = [Float](repeating: 1, count: length + Self.padding)
            ctraining_negated_sums(x, distance, &result, length, wide)
            #expect(Array(result[..<length]) == negated)
            for adds: Int32 in [0, 1] {
                let before = result
                ctraining_kernel_sums(parts[0], parts[1], parts[2], parts[3], &result, length, adds, wide)
                let expected = zip(kernel, before).map { adds == 1 ? $0 + $1 : $0 }
                #expect(Array(result[..<length]) == expected)
            }
        }
    }

    @Test(arguments: [0, 1, 8, 13, 64, 427], [1, 3, 4, 9])
    func countsAreThoseOfPlainLoops(length: Int, levelCount: Int) {
        let values = Self.numbers(length, seed: 6)
        let levels = Self.numbers(levelCount, seed: 7)
        let expected = levels.map { level in Int32(values.filter { $0 > level }.count) }
        for wide: Int32 in [0, 1] {
            var counts = [Int32](repeating: -1, count: levelCount)
            ctraining_count_above(values, length, levels, levelCount, &counts, wide)
            #expect(counts == expected)
        }
    }

    @Test func numbersOfAllKindsAreSorted() {
        let special: [Float] = [
            .infinity, -0.0, 0, -.infinity, .leastNonzeroMagnitude, -.greatestFiniteMagnitude, 1e-30,
        ]
        for count in [0, 1, 2, 60, 1460] {
            var values = Self.numbers(count, seed: 8) + special
            let expected = values.sorted()
            var scratch = values
            ctraining_sort(&values, &scratch, values.count)
            #expect(values == expected)
            #expect(values.firstIndex { $0 == 0 }.map { values[$0].sign } == .minus)
        }
        var withoutNumber: [Float] = [2, .nan, 1, -.nan, 3]
        var scratch = withoutNumber
        ctraining_sort(&withoutNumber, &scratch, withoutNumber.count)
        #expect(Array(withoutNumber[1...3]) == [1, 2, 3])
    }
}
