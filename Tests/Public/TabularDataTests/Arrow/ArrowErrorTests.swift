import CTabular
import Foundation
import TabularData
import Testing

/// Arrays that contradict themselves, and types that columns cannot hold: each error names the column.
@Suite struct ArrowErrorTests {
    private typealias Fixture = ArrowFixture

    /// The message of the error of a table with this column, which also has a good one.
    private func message(_ column: ArrowFixture, rows: Int = 3) -> String {
        let table = ArrowFixture.table([.doubles("good", [1, 2, 3]), column], rows: rows)
        do {
            _ = try table.copied()
            return "no error"
        } catch { return "\(error)" }
    }

    @Test(arguments: [
        ("d:10,2", "decimal"), ("z", "binary"), ("tDn", "duration"), ("ttm", "time of day"), ("+vl", "list view"),
        ("+ud:0", "union"), ("w:4", "fixed-size binary"), ("tsx:", "unknown"), ("?", "'?'"), ("", "''"),
        ("+w:-1", "fixed size"), ("+w:x", "fixed size"),
    ])
    func otherTypesAreRefusedByName(format: String, words: String) {
        let text = message(Fixture(format, "price", 3, [nil, [UInt8](repeating: 0, count: 64)]))
        #expect(text.contains("'price'") && text.contains(words), "\(text)")
    }

    @Test func lengthsAreChecked() {
        let short = Fixture.doubles("x", [1, 2])
        #expect(message(short).contains("'x' has 2 elements, where 3 are stated"))
        for (length, offset) in [(-1, 0), (3, -1), (Int64.max, 0), (3, Int64.max)] as [(Int64, Int64)] {
            let column = Fixture.doubles("x", [1, 2, 3])
            (column.length, column.offset) = (length, offset)
            #expect(message(column).contains("'x' has the length \(length) and the offset \(offset)"))
        }
        #expect(message(.doubles("x", [1, 2, 3]), rows: -4).contains("has the length -4"))
        #expect(message(.doubles("x", [1, 2, 3]), rows: 1 << 40).contains("more than"))
    }

    @Test func buffersAreChecked() {
        let few = Fixture.doubles("x", [1, 2, 3])
        few.buffers.removeLast()
        #expect(message(few).contains("'x' has an array of 1 buffers; its type has 2"))
        let none = Fixture.doubles("x", [1, 2, 3])
        none.buffers[1] = nil
        #expect(message(none).contains("no memory for them"))
        let blind = Fixture.doubles("x", [1, 2, 3])
        blind.missing = 2
        #expect(message(blind).contains("2 missing elements, but no buffer that tells which"))
        let views = Fixture("vu", "x", 3, [nil, [UInt8](repeating: 0, count: 48)])
        #expect(message(views).contains("text views have at least 3"))
    }

    @Test func offsetsOfTextsAreChecked() {
        for offsets in [[0, 5, 2, 6], [-1, 0, 1, 2], [3, 2, 1, 0]] as [[Int32]] {
            let text = message(Fixture("u", "t", 3, [nil, Fixture.bytes(offsets), Array("abcdefgh".utf8)]))
            #expect(text.contains("'t' has the offset"), "\(text)")
        }
        let text = message(Fixture("u", "t", 3, [nil, Fixture.bytes([0, 1, 2, 3] as [Int32]), nil]))
        #expect(text.contains("no memory for them (buffer 2"), "\(text)")
    }

    @Test func viewsOutsideTheirBuffersAreRefused() {
        func view(_ count: Int32, _ buffer: Int32, _ offset: Int32) -> String {
            let good = Fixture.bytes([Int32(1), 0x61, 0, 0])
            let bad = Fixture.bytes([count, 0x6161_6161, buffer, offset])
            let data = [UInt8](repeating: 0x61, count: 40)
            return message(Fixture("vu", "t", 3, [nil, good + bad + good, data, Fixture.bytes([Int64(40)])]))
        }
        #expect(view(20, 0, 20) == "no error")
        #expect(view(-5, 0, 0).contains("'t' has a text of -5 bytes in row 1"))
        for (count, buffer, offset) in [(20, 0, 21), (20, 1, 0), (20, -1, 0), (20, 0, -1), (Int32.max, 0, 0)]
            as [(Int32, Int32, Int32)]
        {
            #expect(view(count, buffer, offset).contains("row 1 that lies outside its buffers"))
        }
    }

    @Test func dictionariesAndListsStayInTheirBounds() {
        let places = Fixture.numbers("c", "kind", [0, 2, -1] as [Int8?], missing: 0)
        places.dictionary = .texts("", ["a", "b"])
        #expect(message(places).contains("'kind' refers to value 2 of its dictionary in row 1; there are 2"))
        let doubles = Fixture.doubles("kind", [0, 1, 0])
        doubles.dictionary = .texts("", ["a", "b"])
        #expect(message(doubles).contains("no integers"))
        let list = Fixture("+l", "list", 3, [nil, Fixture.bytes([0, 1, 2, 9] as [Int32])])
        list.children = [.doubles("item", [1, 2, 3])]
        #expect(message(list).contains("'list[]' has 3 elements, where 9 are stated"))
        let fixed = Fixture("+w:2147483648", "fixed", 3, [nil])
        fixed.children = [.doubles("item", [1, 2, 3])]
        #expect(message(fixed).contains("where 6442450944 are stated"))
        let nested = Fixture("+w:1", "nested", 3, [nil])
        nested.children = [Fixture("+w:1", "item", 3, [nil])]
        nested.children[0].children = [.doubles("item", [1, 2, 3])]
        #expect(message(nested).contains("'nested' holds lists of") && message(nested).contains("flatten"))
    }

    @Test func childrenAreChecked() {
        let list = Fixture("+l", "list", 3, [nil, Fixture.bytes([0, 1, 2, 3] as [Int32])])
        #expect(message(list).contains("has 0 children; it must have 1"))
        list.children = [.doubles("item", [1, 2, 3])]
        list.statedChildren = 0
        #expect(message(list).contains("an array of 0 children"))
        var deep = Fixture.doubles("item", [1, 2, 3])
        for _ in 0..<40 {
            let outer = Fixture("+w:1", "deep", 3, [nil])
            outer.children = [deep]
            deep = outer
        }
        #expect(message(deep).contains("nests more than"))
    }

    @Test func tablesAreChecked() throws {
        func message(_ body: () throws -> DataFrame) -> String {
            do {
                _ = try body()
                return "no error"
            } catch { return "\(error)" }
        }
        #expect(message { try Fixture.doubles("x", [1]).copied() }.contains("not a table"))
        let twice = Fixture.table([.doubles("x", [1]), .doubles("x", [2])])
        #expect(message { try twice.copied() }.contains("two columns 'x'"))
        let absent = Fixture.table([.doubles("x", [1, 2])])
        absent.missing = 1
        absent.buffers[0] = [1]
        #expect(message { try absent.copied() }.contains("missing as a whole"))
        let fewer = Fixture.table([.doubles("x", [1])])
        fewer.statedChildren = 0
        #expect(message { try fewer.copied() }.contains("0 columns, where the schema has 1"))
        let large = Fixture.table([.numbers("L", "x", [1, UInt64.max] as [UInt64?], missing: 0)])
        #expect(message { try large.copied() }.contains("'x' has 18446744073709551615 in row 1"))
        let broken = ArrowFixtureStream([.table([.doubles("x", [1])])])
        broken.fails = true
        #expect(message { try broken.frame() }.contains("the disk is gone"))
        var released = ArrowArrayStream()
        #expect(message { try DataFrame(arrowStream: &released) }.contains("released already"))
    }

    @Test func whatHasNoFormInArrowIsNotGiven() {
        let frame = DataFrame(columns: [Column<URL>(name: "link", contents: [nil]).eraseToAnyColumn()])
        var stream = ArrowArrayStream()
        #expect(throws: ArrowError.self) { try frame.give(arrowStream: &stream) }
        #expect(stream.release == nil)
    }
}
