import CTabular
import Foundation
import TabularData
import Testing

/// Tables in the Arrow C data interface, built by hand from the C structures.
@Suite(.serialized) struct ArrowTests {
    private typealias Fixture = ArrowFixture

    // MARK: Values

    @Test func numbersOfEveryWidthBecomeColumns() throws {
        let table = Fixture.table([
            .numbers("c", "i8", [-1, nil, 7] as [Int8?], missing: 99),
            .numbers("C", "u8", [1, 2, 255] as [UInt8?], missing: 0),
            .numbers("s", "i16", [-300, nil, 7] as [Int16?], missing: 9),
            .numbers("S", "u16", [1, 2, 65535] as [UInt16?], missing: 0),
            .numbers("i", "i32", [1, 2, -3] as [Int32?], missing: 0),
            .numbers("I", "u32", [1, nil, 4_000_000_000] as [UInt32?], missing: 5),
            .numbers("l", "i64", [1, nil, .min] as [Int64?], missing: 77),
            .numbers("L", "u64", [1, 2, 3] as [UInt64?], missing: 0),
            .numbers("e", "half", [0x3C00, 0xC000, nil] as [UInt16?], missing: 1),
            .numbers("f", "float", [1.5, nil, -2] as [Float?], missing: 9),
            .doubles("double", [0.1, nil, .infinity]),
        ])
        let frame = try table.copied()
        #expect(frame.shape == (3, 11))
        #expect(Array(frame["i8", Int.self]) == [-1, nil, 7])
        #expect(Array(frame["u8", Int.self]) == [1, 2, 255])
        #expect(Array(frame["i16", Int.self]) == [-300, nil, 7])
        #expect(Array(frame["u16", Int.self]) == [1, 2, 65535])
        #expect(Array(frame["i32", Int.self]) == [1, 2, -3])
        #expect(Array(frame["u32", Int.self]) == [1, nil, 4_000_000_000])
        #expect(Array(frame["i64", Int.self]) == [1, nil, .min])
        #expect(Array(frame["u64", Int.self]) == [1, 2, 3])
        #expect(Array(frame["half", Float.self]) == [1, -2, nil])
        #expect(Array(frame["float", Float.self]) == [1.5, nil, -2])
        #expect(Array(frame["double", Double.self]) == [0.1, nil, .infinity])
        #expect(frame["double"].missingCount == 1)
    }

    @Test func truthValuesAndTimesAreUnpacked() throws {
        let flags = (0..<19).map { $0 % 3 == 0 }
        let column = Fixture("b", "flag", 19, [Fixture.bits((0..<19).map { $0 != 4 }), Fixture.bits(flags)])
        column.missing = -1
        let days = Fixture.numbers("tdD", "day", (0..<19).map { Int32($0) } as [Int32?], missing: 0)
        let times = Fixture.numbers(
            "tsn:UTC",
            "time",
            (0..<19).map { Int64($0) * 1_500_000_000 } as [Int64?],
            missing: 0
        )
        let frame = try Fixture.table([column, days, times]).copied()
        for row in 0..<19 {
            #expect(frame["flag", Bool.self][row] == (row == 4 ? nil : flags[row]))
            #expect(frame["day", Date.self][row] == Date(timeIntervalSince1970: 86400 * Double(row)))
            #expect(frame["time", Date.self][row] == Date(timeIntervalSince1970: 1.5 * Double(row)))
        }
    }

    @Test func textsOfEveryLayoutAreRead() throws {
        let texts: [String?] = ["", "short", nil, "a text that is longer than twelve bytes", "naïve 🦜", "exactly12byt"]
        let wide = Fixture.texts("wide", texts)
        wide.format = "U"
        var offsets: [Int64] = [0]
        for text in texts { offsets.append((offsets.last ?? 0) + Int64(text?.utf8.count ?? 0)) }
        wide.buffers[1] = Fixture.bytes(offsets)
        let frame = try Fixture.table([.texts("narrow", texts), wide, Self.views("view", texts)]).copied()
        for name in ["narrow", "wide", "view"] { #expect(Array(frame[name, String.self]) == texts, "\(name)") }
    }

    /// A column of string views, whose long texts lie in two buffers.
    private static func views(_ name: String, _ texts: [String?]) -> ArrowFixture {
        var data: [[UInt8]] = [Array("unused".utf8), []]
        var views: [UInt8] = []
        for text in texts {
            let bytes = Array((text ?? "").utf8)
            views += ArrowFixture.bytes([Int32(bytes.count)])
            if bytes.count <= 12 {
                views += bytes + [UInt8](repeating: 0, count: 12 - bytes.count)
            } else {
                views += Array(bytes[..<4]) + ArrowFixture.bytes([Int32(1), Int32(data[1].count)])
                data[1] += bytes
            }
        }
        let sizes = ArrowFixture.bytes(data.map { Int64($0.count) })
        let fixture = ArrowFixture(
            "vu",
            name,
            texts.count,
            [ArrowFixture.bits(texts.map { $0 != nil }), views] + data + [sizes]
        )
        fixture.missing = Int64(texts.count { $0 == nil })
        return fixture
    }

    @Test func slicesStartWhereTheirOffsetsSay() throws {
        let numbers = Fixture.doubles("x", [1, 2, nil, 4, 5, nil, 7, 8, 9, 10])
        let texts = Fixture.texts("t", ["a", nil, "c", "d", "e", "f", "g", "h", "i", "j"])
        let flags = Fixture("b", "b", 10, [nil, Fixture.bits((0..<10).map { $0 % 2 == 0 })])
        for column in [numbers, texts, flags] {
            column.offset = 1
            column.length = 9
        }
        let table = Fixture.table([numbers, texts, flags], rows: 5)
        table.offset = 3
        let frame = try table.copied()
        #expect(Array(frame["x", Double.self]) == [5, nil, 7, 8, 9])
        #expect(Array(frame["t", String.self]) == ["e", "f", "g", "h", "i"])
        #expect(Array(frame["b", Bool.self]) == [true, false, true, false, true])
    }

    @Test func dictionariesGiveTheirValues() throws {
        let places = Fixture.numbers("c", "kind", [2, 0, nil, 1, 2] as [Int8?], missing: 100)
        places.dictionary = .texts("", ["cat", "a dog of a long name", "emu"])
        let numbers = Fixture.numbers("I", "size", [1, 1, 0, 0, 1] as [UInt32?], missing: 0)
        numbers.dictionary = .doubles("", [1.5, 2.5])
        let frame = try Fixture.table([places, numbers]).copied()
        #expect(Array(frame["kind", String.self]) == ["emu", "cat", nil, "a dog of a long name", "emu"])
        #expect(Array(frame["size", Double.self]) == [2.5, 2.5, 1.5, 1.5, 2.5])
    }

    @Test func listsMapsAndStructuresBecomeArraysAndDictionaries() throws {
        let list = Fixture(
            "+l",
            "list",
            3,
            [Fixture.bits([true, false, true]), Fixture.bytes([0, 2, 2, 3] as [Int32])]
        )
        list.missing = 1
        list.children = [.doubles("item", [1, nil, 3])]
        let fixed = Fixture("+w:2", "fixed", 3, [nil])
        fixed.children = [.numbers("f", "item", [1, 2, 3, 4, 5, 6] as [Float?], missing: 0)]
        let words = Fixture("+L", "words", 3, [nil, Fixture.bytes([0, 1, 1, 3] as [Int64])])
        words.children = [.texts("item", ["a", "b", "c"])]
        let map = Fixture("+m", "map", 3, [nil, Fixture.bytes([0, 2, 2, 3] as [Int32])])
        map.children = [.table([.texts("key", ["a", "b", "a"]), .doubles("value", [1, 2, 3])])]
        let structure = Fixture.table([
            .doubles("x", [1, nil, 3]), .numbers("l", "y", [4, 5, 6] as [Int64?], missing: 0),
        ])
        structure.name = "structure"
        let frame = try Fixture.table([list, fixed, words, map, structure]).copied()
        let lists = Array(frame["list", [Double].self])
        #expect(lists[0]?[0] == 1 && lists[0]?[1].isNaN == true && lists[1] == nil && lists[2] == [3])
        #expect(Array(frame["fixed", [Float].self]) == [[1, 2], [3, 4], [5, 6]])
        #expect(Array(frame["words", [String].self]) == [["a"], [], ["b", "c"]])
        #expect(Array(frame["map", [String: Double].self]) == [["a": 1, "b": 2], [:], ["a": 3]])
        #expect(Array(frame["structure", [String: Double].self]) == [["x": 1, "y": 4], ["y": 5], ["x": 3, "y": 6]])
    }

    // MARK: Streams

    @Test func batchesAreJoinedAndReleased() throws {
        Fixture.released = 0
        func batch(_ numbers: [Double?], _ texts: [String?]) -> ArrowFixture {
            .table([.doubles("x", numbers), .texts("t", texts)])
        }
        let long = "a text that is longer than twelve bytes"
        do {
            let frame = try ArrowFixtureStream([
                batch([1, nil], [long, nil]), batch([], []), batch([3], ["b"]), batch([nil, 5], [nil, long]),
            ]).frame()
            #expect(Array(frame["x", Double.self]) == [1, nil, 3, nil, 5])
            #expect(Array(frame["t", String.self]) == [long, nil, "b", nil, long])
        }
        #expect(Fixture.released == 4)
    }

    @Test func oneBatchIsReadWhereItLiesAndNeverWritten() throws {
        Fixture.released = 0
        do {
            let values = (0..<1000).map { Double($0) }
            var frame = try ArrowFixtureStream([.table([.doubles("x", values)])]).frame()
            #expect(Fixture.released == 0, "the column keeps the memory")
            let untouched = frame["x", Double.self]
            frame["x", Double.self][3] = -1
            var appended = untouched
            appended.append(7)
            #expect(frame["x", Double.self][3] == -1 && untouched[3] == 3)
            #expect(appended.count == 1001 && appended[1000] == 7 && untouched.count == 1000)
            frame = DataFrame()
            #expect(Array(untouched) == values.map { $0 })
        }
        #expect(Fixture.released == 1)
    }

    @Test func aStreamWithoutBatchesHasColumnsWithoutRows() throws {
        let schema = Fixture.table([.doubles("x", []), .texts("t", [])])
        let frame = try ArrowFixtureStream([], schema: schema).frame()
        #expect(frame.shape == (0, 2))
        #expect(frame.containsColumn("x", Double.self) && frame.containsColumn("t", String.self))
    }

    @Test func whatIsGivenIsReadBack() throws {
        let frame = DataFrame(columns: [
            Column<Double>(name: "x", contents: [1, nil, .nan]).eraseToAnyColumn(),
            Column<Float>(name: "f", contents: [1.5, 2, 3]).eraseToAnyColumn(),
            Column<Int>(name: "n", contents: [nil, -5, .max]).eraseToAnyColumn(),
            Column<Bool>(name: "b", contents: [true, nil, false]).eraseToAnyColumn(),
            Column<String>(name: "t", contents: ["", nil, "a text that is longer than twelve bytes"])
                .eraseToAnyColumn(),
            Column<[String]>(name: "words", contents: [["a", "bc"], nil, []]).eraseToAnyColumn(),
            Column<[Double]>(name: "list", contents: [[], [1, 2], nil]).eraseToAnyColumn(),
        ])
        var stream = ArrowArrayStream()
        try frame.give(arrowStream: &stream)
        let copy = try DataFrame(arrowStream: &stream)
        #expect(copy.columns.map(\.name) == frame.columns.map(\.name))
        #expect(
            copy["x", Double.self][0] == 1 && copy["x", Double.self][1] == nil
                && copy["x", Double.self][2]?.isNaN == true
        )
        for name in ["f", "n", "b", "t", "words", "list"] { #expect(copy[name] == frame[name], "\(name)") }
    }
}
