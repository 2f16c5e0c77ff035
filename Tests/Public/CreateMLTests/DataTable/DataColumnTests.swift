import CoreML
import CreateML
import Foundation
import Testing

/// The operations on columns and values.
@Suite struct DataColumnTests {
    private func texts(_ column: MLUntypedColumn) -> [String] { (0..<column.count).map { column[$0].description } }
    private func list<T>(_ column: MLDataColumn<T>) -> [T?] { (0..<column.count).map { column.element(at: $0) } }

    @Test func valuesConvertBothWays() throws {
        #expect(1.dataValue == .int(1) && true.dataValue == .int(1) && Int64(-3).dataValue == .int(-3))
        #expect(Int(from: .int(4)) == 4 && Int(from: .double(4)) == nil && Double(from: .int(4)) == 4)
        #expect(String(from: .string("a")) == "a" && String(from: .invalid) == nil && Bool(from: .int(2)) == true)
        let lists = [[1.5], []].dataValue
        #expect(lists.type == .sequence && [[Double]](from: lists) == [[1.5], []] && [Int](from: lists) == nil)
        let dictionary = ["b": 2, "a": 1].dataValue
        #expect([String: Int](from: dictionary) == ["a": 1, "b": 2] && [Int: Int](from: dictionary) == nil)
        #expect(dictionary.description == #"{"a": 1, "b": 2}"#)
        #expect(dictionary.dictionaryValue?[.string("a")] == .int(1))
        #expect(dictionary.dictionaryValue?.compactMap(\.value.intValue).reduce(0, +) == 3)
        #expect(["a\"\n": 1].dataValue.description == #"{"a\"\n": 1}"#)
        let array = try MLMultiArray(shape: [2, 2], dataType: .float32)
        for index in 0..<4 { array[index] = NSNumber(value: index) }
        let value = MLDataValue.MultiArrayType(array)
        #expect(value[3] == 3 && value[[1, 0]] == 2 && value.description == "[[0.0, 1.0], [2.0, 3.0]]")
        #expect(value != MLDataValue.MultiArrayType(shape: [2, 2]) && value == MLDataValue.MultiArrayType(array))
        #expect(value.dataValue.multiArrayValue == value && value.dataValue.intValue == nil)
        #expect(Set([value.dataValue, .multiArray(MLDataValue.MultiArrayType(array)), .invalid]).count == 2)
        let sequence: MLDataValue.SequenceType = [.int(1), .string("x")]
        #expect(sequence.count == 2 && sequence[1] == .string("x") && sequence.description == #"[1, "x"]"#)
        #expect(MLDataValue.invalid.isValid == false && "\(MLDataValue.ValueType.multiArray)" == "MultiArray")
    }

    @Test func numbersAreComputedWith() {
        let (a, b) = (MLDataColumn([1, 2, 3]), MLDataColumn([4, 5, 6]))
        #expect(list(a + b) == [5, 7, 9] && list(b - a) == [3, 3, 3] && list(a * b) == [4, 10, 18])
        #expect(list(b / a) == [4, 2, 2] && list(a + 1) == [2, 3, 4] && list(10 - a) == [9, 8, 7])
        #expect(list(a == b - 3) == [true, true, true] && list(a < 2) == [true, false, false])
        #expect(list(2 <= a) == [false, true, true] && list(a != 3) == [true, true, false])
        #expect(list(a > 1 && a < 3) == [false, true, false] && list(a <= 1 || a >= 3) == [true, false, true])
        let doubles = MLDataColumn([1.5, -2])
        #expect(list(doubles / 2) == [0.75, -1] && list(3 * doubles) == [4.5, -6])
        #expect(list(doubles > MLDataColumn([0, 0.0])) == [true, false])
        #expect(!(a + MLDataColumn([1])).isValid && "\((a + MLDataColumn([1])).error!)".contains("3 and 1 rows"))
        #expect("\((a / 0).error!)".contains("row 0: 1 / 0"))
        #expect("\((MLDataColumn([Int.max]) + 1).error!)".contains("not an integer"))
        #expect(list(a[a > 1]) == [2, 3] && list(a[1...]) == [2, 3] && !a[2..<7].isValid)
        #expect(list(MLDataColumn(["x", "y"]) < "y") == [true, false])
    }

    @Test func untypedColumnsTakeTheirTypes() {
        let (ints, doubles) = (MLUntypedColumn([1, 2, 4]), MLUntypedColumn([0.5, 1, 2]))
        #expect(texts(ints + doubles) == ["1.5", "3.0", "6.0"] && (ints * 2).type == .int)
        #expect(texts(ints / 2) == ["0.5", "1.0", "2.0"] && texts(8 / ints) == ["8.0", "4.0", "2.0"])
        #expect(texts(ints == 2) == ["0", "1", "0"] && texts(2.5 > ints) == ["1", "1", "0"])
        #expect(
            texts(ints >= 2 && doubles < 2) == ["0", "1", "0"] && texts(ints > 3 || doubles < 1) == ["1", "0", "1"]
        )
        #expect(texts(MLUntypedColumn(["a", "b"]) + "c") == ["ac", "bc"])
        #expect(texts(MLUntypedColumn([[1], [2]]) == MLUntypedColumn([[1], [3]])) == ["1", "0"])
        #expect("\((ints + "a").error!)".contains("there is no + of a Int and a String"))
        #expect("\((MLUntypedColumn(["a"]) * MLUntypedColumn(["b"])).error!)".contains("*"))
        let holes = MLUntypedColumn([MLDataValue.int(1), .invalid])
        #expect(texts(holes + 1) == ["2", "null"] && texts(holes == 1) == ["1", "null"])
        let mixed = MLUntypedColumn([MLDataValue.int(1), .double(2.5), .invalid])
        #expect(mixed.type == .double && texts(mixed) == ["1.0", "2.5", "null"])
        let wrong = MLUntypedColumn([MLDataValue.int(1), .string("a")])
        #expect(!wrong.isValid && "\(wrong.error!)".contains("row 1") && fails { _ = try wrong.materialize() })
        #expect(texts(MLUntypedColumn(1...3)) == ["1", "2", "3"] && MLUntypedColumn().isEmpty)
        #expect(MLUntypedColumn(repeating: "a", count: 2).type == .string)
        #expect(MLUntypedColumn(repeating: MLDataValue.invalid, count: 2).type == .invalid)
    }

    private func fails(_ body: () throws -> Void) -> Bool {
        do { try body() } catch { return true }
        return false
    }

    @Test func columnsAreConverted() {
        let column = MLUntypedColumn(["1", " 2 ", "3"])
        #expect(texts(MLUntypedColumn(ints: column)) == ["1", "2", "3"] && MLUntypedColumn(ints: column).type == .int)
        #expect(list(column.map(to: Double.self)) == [1, 2, 3])
        #expect("\(MLUntypedColumn(ints: MLUntypedColumn(["1", "x"])).error!)".contains("'x'"))
        #expect(list(MLDataColumn<Int>(column: MLDataColumn([1.9, -1.9]))) == [1, -1])
        #expect("\(MLDataColumn<Int>(column: MLDataColumn([1e300])).error!)".contains("row 0"))
        #expect(list(MLDataColumn<String>(column: MLDataColumn([1, 2]))) == ["1", "2"])
        #expect(list(MLDataColumn<[Double]>(column: MLDataColumn([[1, 2], []]))) == [[1, 2], []])
        let arrays = MLUntypedColumn(multiArrays: MLUntypedColumn([[1.0, 2], [3.0]]))
        #expect(arrays.multiArrays?[0][1] == 2 && texts(MLUntypedColumn(sequences: arrays)) == ["[1.0, 2.0]", "[3.0]"])
        #expect(column.ints == nil && column.strings?.count == 3 && column.column(type: String.self)?[0] == "1")
        #expect(list(MLUntypedColumn([0, 1, 2]).column(type: Bool.self)!) == [false, true, true])
    }

    @Test func missingElementsStayMissing() {
        let column = MLDataColumn([1, 2, 3, 2]).map { $0 == 2 ? nil : $0 * 10 } as MLDataColumn<Int>
        #expect(list(column) == [10, nil, 30, nil] && column[1] == 0 && column.element(at: 9) == nil)
        #expect(column.sum() == 40 && column.mean() == 20 && column.stdev() == 10 && column.std() == 10)
        #expect(list(column.dropMissing()) == [10, 30] && list(column.fillMissing(with: 5)) == [10, 5, 30, 5])
        #expect(list(column.map { "\($0)" }) == ["10", nil, "30", nil])
        #expect(list(column.mapMissing { $0 ?? -1 }) == [10, -1, 30, -1])
        #expect(list(column.sort()) == [nil, nil, 10, 30] && list(column.dropDuplicates()) == [10, nil, 30])
        #expect(list(column.sort(byIncreasingOrder: false)).prefix(2) == [30, 10])
        #expect(list(column.prefix(1)) == [10] && list(column.suffix(2)) == [30, nil])
        #expect(list(column[column > 15]) == [30])
        let untyped = MLUntypedColumn([MLDataValue.string("a"), .invalid])
        #expect(list(untyped.map { $0.stringValue ?? "?" }) == ["a", nil])
        #expect(list(untyped.mapMissing { $0.stringValue ?? "?" }) == ["a", "?"])
        #expect(texts(untyped.fillMissing(with: .string("b"))) == ["a", "b"])
    }

    @Test func statisticsOfNothingAreNil() {
        let empty = MLDataColumn<Double>()
        #expect(empty.isEmpty && empty.isValid && empty.sum() == nil && empty.max() == nil && empty.stdev() == nil)
        #expect(MLDataColumn([Int.max, 1]).sum() == nil)
        let wrong = MLDataColumn([1]) + MLDataColumn([1, 2])
        #expect(wrong.mean() == nil && wrong.isEmpty && !wrong.map { "\($0)" }.isValid)
        var column = MLDataColumn([1.0])
        column.append(contentsOf: MLDataColumn([2]))
        #expect(column.sum() == 3 && column.copy().min() == 1)
        var untyped = MLUntypedColumn([1])
        untyped.append(contentsOf: MLUntypedColumn(["a"]))
        #expect(!untyped.isValid && untyped.description.contains("Not valid"))
    }
}
