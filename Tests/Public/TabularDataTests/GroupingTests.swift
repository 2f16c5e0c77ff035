import Foundation
import TabularData
import Testing

/// Groups, joins and orders beside plain Swift that does the same slowly.
struct GroupingTests {
    /// A frame with keys of several types, some missing.
    static func frame(_ seed: UInt64, rows: Int) -> DataFrame {
        var random = Seeded(seed)
        func column<T>(_ name: String, _ make: (inout Seeded) -> T) -> Column<T> {
            Column(
                name: name,
                contents: (0..<rows).map { _ in
                    Int.random(in: 0..<8, using: &random) == 0 ? nil : make(&random)
                }
            )
        }
        return DataFrame(columns: [
            column("small") { Int.random(in: -3...3, using: &$0) }.eraseToAnyColumn(),
            column("wide") { Int.random(in: 0...3, using: &$0) &* 0x7000_0000_0000_0000 }.eraseToAnyColumn(),
            column("text") { ["a", "b", "a longer one than 12 bytes", "ü"][Int.random(in: 0..<4, using: &$0)] }
                .eraseToAnyColumn(),
            column("flag") { Bool.random(using: &$0) }.eraseToAnyColumn(),
            column("x") { Double(Int.random(in: -9...9, using: &$0)) / 2 }.eraseToAnyColumn(),
            column("n") { Int.random(in: -99...99, using: &$0) }.eraseToAnyColumn(),
        ])
    }

    static var frames: [DataFrame] { (0..<6).map { frame(UInt64($0 + 1), rows: [0, 1, 7, 60, 500, 3000][$0]) } }

    static func check<K: Hashable>(_ frame: DataFrame, _ name: String, _ type: K.Type) {
        let keys = Array(frame[name, K.self])
        let grouping = frame.grouped(by: ColumnID(name, K.self))
        var rows: [K?: [Int]] = [:]
        var order: [K?] = []
        for (row, key) in keys.enumerated() {
            if rows[key] == nil { order.append(key) }
            rows[key, default: []].append(row)
        }
        #expect(grouping.map(\.key) == order)
        for (key, group) in grouping { #expect(group.rows.map(\.index) == rows[key]) }
        let n = Array(frame["n", Int.self])
        let x = Array(frame["x", Double.self])
        let sums = grouping.sums("n", Int.self)
        #expect(Array(sums["sum(n)", Int.self]) == order.map { rows[$0]!.compactMap { n[$0] }.reduce(0, +) })
        let means = grouping.means("x", Double.self)
        let expected = order.map { key -> Double? in
            let present = rows[key]!.compactMap { x[$0] }
            return present.isEmpty ? nil : present.reduce(0, +) / Double(present.count)
        }
        #expect(Array(means["mean(x)", Double.self]) == expected)
        #expect(
            Array(grouping.minimums("n", Int.self)["min(n)", Int.self])
                == order.map { rows[$0]!.compactMap { n[$0] }.min() }
        )
        #expect(
            Array(grouping.maximums("x", Double.self)["max(x)", Double.self])
                == order.map { rows[$0]!.compactMap { x[$0] }.max() }
        )
        #expect(Array(grouping.counts()["count", Int.self]) == order.map { rows[$0]!.count })
        let own = grouping.aggregated(on: "n", naming: { "least " + $0 }) {
            (slice: DiscontiguousColumnSlice<Int>) in slice.min()
        }
        #expect(Array(own["least n", Int.self]) == order.map { rows[$0]!.compactMap { n[$0] }.min() })
        #expect(grouping.ungrouped().shape.rows == frame.shape.rows)
        // The same of groups that are frames of their own.
        let mapped = grouping.mapGroups { DataFrame($0) }
        #expect(mapped.sums("n", Int.self) == sums && mapped.counts() == grouping.counts())
    }

    @Test(arguments: 0..<6)
    func singleKeys(_ index: Int) {
        let frame = Self.frames[index]
        Self.check(frame, "small", Int.self)
        Self.check(frame, "wide", Int.self)
        Self.check(frame, "text", String.self)
        Self.check(frame, "flag", Bool.self)
        Self.check(frame, "x", Double.self)
    }

    @Test(arguments: 0..<6)
    func severalKeys(_ index: Int) {
        let frame = Self.frames[index]
        struct Key: Hashable { var a: Int?, b: String?, c: Bool? }
        var rows: [Key: Int] = [:]
        var order: [Key] = []
        for row in frame.rows {
            let key = Key(a: row["small", Int.self], b: row["text", String.self], c: row["flag", Bool.self])
            if rows.updateValue((rows[key] ?? 0) + 1, forKey: key) == nil { order.append(key) }
        }
        let counts = frame.grouped(by: "small", "text", "flag").counts()
        #expect(Array(counts["count", Int.self]) == order.map { rows[$0]! })
        #expect(Array(counts["text", String.self]) == order.map(\.b))
        let typed = frame.grouped(
            by: ColumnID("small", Int.self),
            ColumnID("text", String.self),
            ColumnID("flag", Bool.self)
        )
        #expect(typed.counts() == counts)
    }

    @Test func keysAndFilters() throws {
        let frame: DataFrame = ["k": ["a", "b", "a", nil], "v": [1, 2, 3, 4]]
        let grouping = frame.grouped(by: "k")
        #expect(grouping["a"]?.shape.rows == 2 && grouping["c"] == nil && grouping[nil as String?]?.shape.rows == 1)
        let large = grouping.filter { $0.shape.rows > 1 }
        #expect(large.count == 1 && large.counts()["k", String.self][0] == "a")
        #expect(Array(grouping.counts(order: .descending)["count", Int.self]) == [2, 1, 1])
        #expect(Array(grouping.sums("v", Int.self, order: .ascending)["sum(v)", Int.self]) == [2, 4, 4])
        let summary = try #require(grouping.summary(of: "v")["a"])
        #expect(summary[SummaryColumnIDs.mean][0] == 2)
        let rounded = frame.grouped(by: "v") { (v: Int?) in v.map { $0 / 2 } }
        #expect(rounded.map(\.key) == [0, 1, 2])
    }

    @Test func timeUnits() {
        let formatter = ISO8601DateFormatter()
        let dates = ["2020-03-01T12:00:00Z", "2021-03-05T12:00:00Z", "2020-07-01T12:00:00Z"].map(formatter.date)
        var frame = DataFrame()
        frame.append(column: Column<Date>(name: "when", contents: dates))
        let years = frame.grouped(by: "when", timeUnit: .year)
        #expect(years.map(\.key) == [2020, 2021])
        let months = frame.grouped(by: ColumnID("when", Date.self), timeUnit: .month).counts(order: .descending)
        #expect(Array(months["when.month", Int.self]) == [3, 7])
    }

    @Test(arguments: 0..<6, 0..<6)
    func joins(_ i: Int, _ j: Int) {
        let left = Self.frames[i]
        let right = Self.frames[j].prefix(40)
        Self.checkJoin(left, right, "small", Int.self)
        Self.checkJoin(left, right, "text", String.self)
        Self.checkJoin(left, right, "x", Double.self)
    }

    static func checkJoin<K: Hashable>(_ left: DataFrame, _ right: DataFrame.Slice, _ name: String, _: K.Type) {
        let a = Array(left[name, K.self])
        let b = Array(right[name, K.self])
        let n = Array(left["n", Int.self])
        let m = Array(right["n", Int.self])
        var pairs: [(Int?, Int?)] = []
        for (i, key) in a.enumerated() where key != nil {
            for (j, other) in b.enumerated() where other == key { pairs.append((i, j)) }
        }
        let usedLeft = Set(pairs.compactMap(\.0))
        let usedRight = Set(pairs.compactMap(\.1))
        let alone = a.indices.filter { !usedLeft.contains($0) }.map { ($0 as Int?, nil as Int?) }
        let aloneRight = b.indices.filter { !usedRight.contains($0) }.map { (nil as Int?, $0 as Int?) }
        func check(_ kind: JoinKind, _ expected: [(Int?, Int?)]) {
            let joined = left.joined(right, on: name, kind: kind)
            #expect(joined.shape.rows == expected.count)
            #expect(Array(joined["left.n", Int.self]) == expected.map { $0.0.flatMap { n[$0] } })
            #expect(Array(joined["right.n", Int.self]) == expected.map { $0.1.flatMap { m[$0] } })
            #expect(Array(joined[name, K.self]) == expected.map { $0.0.map { a[$0] } ?? b[$0.1!] })
            #expect(joined.columnNames(forAlias: "n") == ["left.n", "right.n"])
        }
        let left = (pairs + alone).sorted { $0.0! < $1.0! }
        check(.inner, pairs)
        check(.left, left)
        check(.full, left + aloneRight)
        check(.right, (pairs + aloneRight).sorted { ($0.1!, $0.0 ?? 0) < ($1.1!, $1.0 ?? 0) })
    }

    @Test(arguments: 0..<6)
    func orders(_ index: Int) {
        let frame = Self.frames[index]
        func check<T: Comparable>(_ name: String, _: T.Type) {
            let values = Array(frame[name, T.self])
            func before(_ a: Int, _ b: Int, _ order: Order) -> Bool {
                let (x, y) = order == .ascending ? (values[a], values[b]) : (values[b], values[a])
                if let x, let y, x != y { return x < y }
                if (x == nil) != (y == nil) { return x == nil }
                return a < b
            }
            let numbered = DataFrame(
                columns: frame.columns + [
                    AnyColumnOf.rows(frame.shape.rows)
                ]
            )
            for order in [Order.ascending, .descending] {
                let sorted = numbered.sorted(on: name, T.self, order: order)
                let expected = values.indices.sorted { before($0, $1, order) }
                #expect(Array(sorted["row", Int.self]) == expected)
                #expect(numbered.sorted(on: name, order: order) == sorted)
            }
            let own = numbered.sorted(on: name, T.self) { $0 > $1 }
            #expect(own["row", Int.self].count == values.count)
        }
        check("small", Int.self)
        check("wide", Int.self)
        check("text", String.self)
        check("x", Double.self)
        check("n", Int.self)
        let several = frame.sorted(
            on: ColumnID("text", String.self),
            ColumnID("x", Double.self),
            ColumnID("n", Int.self)
        )
        let keys = several.rows.map {
            ($0["text", String.self] ?? "", $0["x", Double.self] ?? -99, $0["n", Int.self] ?? -999)
        }
        #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 <= $1 })
        var changed = frame
        changed.sort(on: ColumnID("text", String.self), ColumnID("x", Double.self), ColumnID("n", Int.self))
        #expect(changed == several)
    }

    @Test("joins on keys that are unique in the other frame, in all of both frames and in parts of them")
    func joinsOfUniqueKeys() {
        var random = Seeded(11)
        let keys = (0..<500).map { 7 * $0 }.shuffled(using: &random)
        let others: DataFrame = ["key": keys, "n": Array(0..<500)]
        // More rows than one thread takes at a time.
        let count = 150_000
        let found = (0..<count).map { _ in keys.randomElement(using: &random)! }
        let all: DataFrame = ["key": found, "n": Array(0..<count)]
        let partner = Dictionary(uniqueKeysWithValues: zip(keys, 0...))
        let joined = all.joined(others, on: "key")
        #expect(Array(joined["key", Int.self]) == found)
        #expect(Array(joined["left.n", Int.self]) == Array(0..<count))
        #expect(Array(joined["right.n", Int.self]) == found.map { partner[$0] })
        #expect(joined == all.joined(others, on: "key", kind: .left))

        let halves = all.filter(on: "key", Int.self) { $0! % 2 == 0 }
        let parts = others[100..<400].joined(halves, on: "key", kind: .right)
        let rows = found.indices.filter { found[$0] % 2 == 0 }
        #expect(Array(parts["right.n", Int.self]) == rows)
        let expected = rows.map { partner[found[$0]]! }.map { (100..<400).contains($0) ? $0 : nil }
        #expect(Array(parts["left.n", Int.self]) == expected)
        #expect(Array(parts["key", Int.self]) == rows.map { found[$0] })
        let full = all[5..<70_005].joined(others[0..<10], on: "key", kind: .full)
        let unused = (0..<10).filter { !found[5..<70_005].contains(keys[$0]) }
        #expect(full.shape.rows == 70_000 + unused.count)
    }

    @Test("orders of many rows by keys that agree in all bits but the lowest, equal ones as they were")
    func ordersOfCloseKeys() {
        var random = Seeded(5)
        for (clusters, low) in [(300, 0...0x7FFF), (10_000, 0...3), (3, 0...1)] {
            let centres = (0..<clusters).map { _ in Int.random(in: .min ... .max, using: &random) & ~0x7FFF }
            let values = (0..<40_000).map { _ in
                centres.randomElement(using: &random)! | Int.random(in: low, using: &random)
            }
            let frame: DataFrame = ["x": values, "row": Array(0..<40_000), "y": values.map { $0 & 1 }]
            let order = values.indices.sorted { (values[$0], $0) < (values[$1], $1) }
            #expect(Array(frame.sorted(on: "x")["row", Int.self]) == order)
            let part = frame[1000..<31_000].sorted(on: ColumnID("y", Int.self), ColumnID("x", Int.self))
            let expected = (1000..<31_000).sorted {
                (values[$0] & 1, values[$0], $0) < (values[$1] & 1, values[$1], $1)
            }
            #expect(Array(part["row", Int.self]) == expected)
        }
    }

    /// Radix passes: many rows, and keys that differ in high or low bits only.
    @Test func largeOrders() {
        var random = Seeded(7)
        for scale in [1.0, 1e-300, 1e300, 0] {
            let values = (0..<20_000).map { _ in 1 + Double.random(in: -1...1, using: &random) * scale }
            var frame = DataFrame()
            frame.append(column: Column(name: "x", contents: values))
            #expect(Array(frame.sorted(on: "x", Double.self)["x", Double.self]) == values.sorted())
        }
        let wide = (0..<20_000).map { _ in Int.random(in: .min ... .max, using: &random) }
        let near = (0..<20_000).map { _ in Int.random(in: 0...3, using: &random) &+ (1 << 60) }
        for values in [wide, near] {
            var frame = DataFrame()
            frame.append(column: Column(name: "x", contents: values))
            #expect(Array(frame.sorted(on: "x", order: .descending)["x", Int.self]) == values.sorted(by: >))
        }
    }
}

enum AnyColumnOf {
    static func rows(_ count: Int) -> AnyColumn { Column(name: "row", contents: 0..<count).eraseToAnyColumn() }
}
