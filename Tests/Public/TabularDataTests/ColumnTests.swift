import Foundation
import TabularData
import Testing

struct ColumnTests {
    @Test func copiesShareUntilWritten() {
        var numbers = Column<Int>(name: "n", contents: [1, nil, 3])
        let before = numbers
        numbers[1] = 2
        numbers.append(nil)
        numbers.append(5)
        #expect(Array(before) == [1, nil, 3])
        #expect(Array(numbers) == [1, 2, 3, nil, 5])
        #expect(before.missingCount == 1 && numbers.missingCount == 1)
        var texts = Column<String>(name: "t", contents: ["short", nil, String(repeating: "long ", count: 20)])
        let kept = texts
        texts[0] = String(repeating: "x", count: 13)
        texts[2] = nil
        texts.append("é")
        #expect(Array(kept) == ["short", nil, String(repeating: "long ", count: 20)])
        #expect(Array(texts) == [String(repeating: "x", count: 13), nil, nil, "é"])
    }

    @Test func erasedCopiesShareUntilWritten() {
        func check<T: Hashable>(_ values: [T?], _ other: T) {
            let column = Column<T>(name: "c", contents: values)
            var erased = column.eraseToAnyColumn()
            let kept = erased
            erased[0] = other
            erased.append(nil)
            erased.remove(at: 1)
            #expect(Array(erased.assumingType(T.self)) == [other] + values.dropFirst(2) + [nil])
            erased.name = "d"
            #expect(kept.name == "c" && kept.missingCount == 1 && Array(kept.assumingType(T.self)) == values)
            #expect(Array(column) == values && kept == column.eraseToAnyColumn() && kept != erased)
            var frame = DataFrame(columns: [kept, erased])
            let before = frame
            frame["c", T.self][1] = other
            frame["c", T.self].name = "e"
            frame["d", T.self].append(contentsOf: [T]())
            #expect(frame.columns.map(\.name) == ["e", "d"] && before.columns.map(\.name) == ["c", "d"])
            #expect(frame["e"][1] as? T == other && before["c"][1] == nil && before["d"] == frame["d"])
        }
        check([1, nil, 3], 7)
        check(["short", nil, String(repeating: "long ", count: 20)], "other")
        check([[1], nil, [2, 3]], [])
        // Elements that equal nothing.
        let shared = Column<[Double]>(name: "n", contents: [[.nan]]).eraseToAnyColumn()
        let same = shared
        #expect(shared == same && shared != Column<[Double]>(name: "n", contents: [[.nan]]).eraseToAnyColumn())
    }

    @Test func slicesAreWrittenToInPlaceOfTheirRows() {
        let numbers = Column<Int>(name: "n", contents: [1, nil, 3, 4])
        var part = numbers[1..<3]
        part *= 10
        part += [5, 6] as [Int]
        #expect(Array(part) == [nil, 36] && Array(numbers) == [1, nil, 3, 4])
        var some = numbers[[true, true, false, true]]
        some -= [1, 1, nil] as [Int?]
        some /= 2
        #expect(Array(some) == [0, nil, nil] && some.sum() == 0 && part.max() == 36 && part.mean() == 36)
    }

    @Test func rangesOfRowsAreReplaced() {
        let others = Column<Int>(name: "o", contents: [7, nil])
        var column = Column<Int>(name: "n", contents: [1, 2, 3, 4])
        column[2..<4] = others[0..<2]
        #expect(Array(column) == [1, 2, 7, nil])
        var slice = column[1..<4]
        slice[1..<3] = others[0..<2]
        #expect(Array(slice) == [7, nil, nil] && Array(column) == [1, 2, 7, nil])
        var erased = column.eraseToAnyColumn()
        erased[0..<2] = others.eraseToAnyColumn()[0..<2]
        #expect(Array(erased.assumingType(Int.self)) == [7, nil, 7, nil])
    }

    /// A column behaves like an array of optionals, whatever is done to it.
    @Test(arguments: 0..<20)
    func behavesLikeAnArray(seed: UInt64) {
        var random = Seeded(seed)
        func check<T: Hashable>(_ make: (inout Seeded) -> T) {
            var column = Column<T>(name: "c", capacity: 0)
            var array: [T?] = []
            for _ in 0..<400 {
                let value = Bool.random(using: &random) ? make(&random) : nil
                switch Int.random(in: 0..<6, using: &random) {
                case 0 where !array.isEmpty:
                    let index = Int.random(in: 0..<array.count, using: &random)
                    column[index] = value
                    array[index] = value
                case 1 where !array.isEmpty:
                    let index = Int.random(in: 0..<array.count, using: &random)
                    column.remove(at: index)
                    array.remove(at: index)
                case 2:
                    let more = (0..<Int.random(in: 0..<40, using: &random)).map { _ in make(&random) as T? } + [nil]
                    column.append(contentsOf: more)
                    array.append(contentsOf: more)
                case 3:
                    var erased = column.eraseToAnyColumn()
                    erased.append(contentsOf: erased)
                    if array.count < 500 {
                        column = erased.assumingType(T.self)
                        array += array
                    }
                default:
                    column.append(value)
                    array.append(value)
                }
            }
            #expect(Array(column) == array)
            #expect(column.missingCount == array.filter { $0 == nil }.count)
            let mask = array.map { _ in Bool.random(using: &random) }
            #expect(Array(column[mask]) == zip(array, mask).filter(\.1).map(\.0))
            #expect(Set(column.distinct()) == Set(array))
            #expect(column.distinct().count == Set(array).count)
            let summary = column.summary()
            #expect(summary.uniqueCount == Set(array.compactMap { $0 }).count)
            #expect(summary.totalCount == array.count)
        }
        check { Int.random(in: -5...5, using: &$0) }
        check { Int.random(in: .min ... .max, using: &$0) }
        check { Double.random(in: -1...1, using: &$0) }
        check { Bool.random(using: &$0) }
        check { UInt8.random(in: 0...255, using: &$0) }
        check { Date(timeIntervalSince1970: .random(in: 0...1e9, using: &$0)) }
        check { String(repeating: "ab", count: Int.random(in: 0..<20, using: &$0)) }
        check { ["x", "\(Int.random(in: 0..<9, using: &$0))"] }
    }

    @Test func statistics() throws {
        let numbers = Column<Double>(name: "n", contents: [4, nil, 1, 3, 2, .nan])
        #expect(numbers.min() == 1 && numbers.max() == 4)
        #expect(numbers.argmin() == 2 && numbers.argmax() == 0)
        let clean = Column<Double>(name: "n", contents: [4, nil, 1, 3, 2])
        #expect(clean.sum() == 10 && clean.mean() == 2.5)
        let deviation = try #require(clean.standardDeviation())
        #expect(abs(deviation - (5.0 / 3).squareRoot()) < 1e-15)
        let summary = clean.numericSummary()
        #expect((summary.someCount, summary.noneCount) == (4, 1))
        #expect((summary.firstQuartile, summary.median, summary.thirdQuartile) == (1.75, 2.5, 3.25))
        let whole = Column<Int>(name: "i", contents: [1, 2, 4])
        #expect(whole.sum() == 7 && whole.mean() == 7.0 / 3)
        #expect(whole[1...].sum() == 6 && whole.filter { $0 != 2 }.sum() == 5)
        let none = Column<Double>(name: "e", contents: [nil, nil] as [Double?])
        #expect(none.mean() == nil && none.min() == nil && none.standardDeviation() == nil && none.sum() == 0)
    }

    @Test func arithmetic() {
        let a = Column<Int>(name: "a", contents: [1, nil, 3])
        let b = Column<Int>(name: "b", contents: [10, 20, nil])
        #expect(Array(a + b) == [11, nil, nil] && (a + b).name == "a")
        #expect(Array(a * 2) == [2, nil, 6] && Array(10 - a) == [9, nil, 7])
        #expect(Array(b / a.filled(with: 2)) == [10, 10, nil])
        #expect(Array(a.filled(with: 0) + b) == [11, 20, nil])
        #expect(Array(a.filled(with: 0) * 3) == [3, 0, 9])
        #expect((a.filled(with: 0) > 0) == [true, false, true])
        #expect((1 <= a.filled(with: 0)) == [true, false, true])
        let x = Column<Double>(name: "x", contents: [1, 2, 3])
        #expect(Array(x / x) == [1, 1, 1] && Array(x - 1) == [0, 1, 2])
        var c = a
        c += 1
        #expect(Array(c) == [2, nil, 4])
        c *= [2, 3, 4]
        #expect(Array(c) == [4, nil, 16])
        c -= [1, nil, nil] as [Int?]
        #expect(Array(c) == [3, nil, nil])
        var slice = a[1...]
        slice += 5
        #expect(Array(slice) == [nil, 8])
        var some = a.filter { $0 != nil }
        some *= 10
        #expect(Array(some) == [10, 30])
    }

    @Test func slicesKeepTheirRows() {
        let column = Column<String>(name: "s", contents: ["a", "b", "c", "d"])
        let slice = column[1..<3]
        #expect(slice.startIndex == 1 && slice[2] == "c" && Array(slice) == ["b", "c"])
        let odd = column.filter { $0 == "b" || $0 == "d" }
        #expect(Array(odd.indices) == [1, 3] && odd[3] == "d" && odd.count == 2)
        #expect(odd.index(after: 1) == 3 && odd.index(before: odd.endIndex) == 3)
        #expect(Array(odd[2...]) == ["d"] && Array(odd[...]) == ["b", "d"])
        let ranges = DiscontiguousColumnSlice(column: column, ranges: [2..<4, 0..<1, 3..<4])
        #expect(Array(ranges) == ["a", "c", "d"])
        let erased = odd.eraseToAnyColumn()
        #expect(erased[3] as? String == "d" && erased.count == 2 && erased.assumingType(String.self) == odd)
        #expect(erased.index(erased.startIndex, offsetBy: 1) == 3)
    }

    @Test func contiguousStorage() {
        var numbers = Column<Double>(name: "n", contents: [1, 2, 3])
        let sum = numbers.withContiguousStorageIfAvailable { (buffer: UnsafeBufferPointer<Double>) in
            buffer.reduce(0, +)
        }
        #expect(sum == 6)
        let copy = numbers
        _ = numbers.withContiguousMutableStorageIfAvailable { (buffer: inout UnsafeMutableBufferPointer<Double>) in
            buffer[0] = 9
        }
        #expect(numbers[0] == 9 && copy[0] == 1)
        numbers.append(nil)
        #expect(numbers.withContiguousStorageIfAvailable { (b: UnsafeBufferPointer<Double>) in b.count } == nil)
    }

    @Test func equalStringsOfDifferentBytes() {
        let column = Column<String>(name: "s", contents: ["é", "e\u{301}", "z", "é"])
        #expect(column.distinct().count == 2)
        #expect(column.summary().mode == ["é"])
        let frame: DataFrame = ["s": ["z", "e\u{301}", "é", "a"]]
        #expect(Array(frame.sorted(on: "s", String.self)["s", String.self]) == ["a", "z", "e\u{301}", "é"])
    }

    @Test func coding() throws {
        let column = Column<Int>(name: "n", contents: [1, nil, 3])
        let data = try JSONEncoder().encode(column)
        #expect(try JSONDecoder().decode(Column<Int>.self, from: data) == column)
        struct Point: Codable, Hashable { var x: Int }
        let points = Column<Point>(name: "p", contents: [Point(x: 1), nil])
        let encoded = try points.encoded(using: JSONEncoder())
        #expect(try encoded.decoded(Point.self, using: JSONDecoder()) == points)
        let bad = Column<Data>(name: "p", contents: [Data("{}".utf8)])
        let error = try #require(throws: ColumnDecodingError.self) {
            try bad.decoded(Point.self, using: JSONDecoder())
        }
        #expect(error.columnName == "p" && error.rowIndex == 0)
    }
}
