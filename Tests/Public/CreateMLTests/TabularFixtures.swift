import CoreML
import CreateML
import Foundation
import TabularData

/// Tables that follow from a seed.
struct TableMaker {
    var state: UInt64

    init(seed: UInt64 = 1) { state = seed }

    mutating func number() -> Double {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(state >> 11) / Double(1 << 53)
    }

    mutating func integer(_ bound: Int) -> Int { Int(number() * Double(bound)) }

    /// Columns of every kind, and the targets `price` (number), `kind` (three strings), `code` (two integers) and
    /// `flag` (Bool).
    /// - Parameter holes: the share of numbers and texts that are missing.
    mutating func frame(rows: Int, holes: Double = 0) -> DataFrame {
        let cities = ["Rome", "Oslo", "Bern", "Nice"]
        let words = ["garden", "lift", "noise", "view"]
        var frame = DataFrame()
        func hole<T>(_ value: T, _ draw: Double) -> T? { draw < holes ? nil : value }
        var (area, rooms, city, isNew) = ([Double?](), [Int?](), [String?](), [Bool?]())
        var (notes, spectrum, price, kind, code, flag) =
            ([[String: Double]](), [[Double]](), [Double](), [String](), [Int](), [Bool]())
        for _ in 0..<rows {
            let a = (20 + 0.1 * Double(integer(1500)))
            let r = 1 + integer(6)
            let c = integer(4)
            let n = number() < 0.5
            var note: [String: Double] = [:]
            for word in words where number() < 0.4 { note[word] = Double(1 + integer(3)) }
            let bands = [number(), number(), number()]
            let value =
                3 * a + 20 * Double(r) + [100, 40, 80, 10][c] + (n ? 35 : 0) + 15 * (note["view"] ?? 0)
                - 12 * (note["noise"] ?? 0) + 40 * bands[1] + 6 * number()
            area.append(hole(a, number()))
            rooms.append(hole(r, number()))
            city.append(hole(cities[c], number()))
            isNew.append(hole(n, number()))
            notes.append(note)
            spectrum.append(bands)
            price.append(value)
            kind.append(value < 250 ? "cheap" : value < 420 ? "fair" : "dear")
            code.append(value < 330 ? -1 : 7)
            flag.append(value < 330)
        }
        frame.append(column: Column(name: "area", contents: area))
        frame.append(column: Column(name: "rooms", contents: rooms))
        frame.append(column: Column(name: "city", contents: city))
        frame.append(column: Column(name: "new", contents: isNew))
        frame.append(column: Column(name: "notes", contents: notes))
        frame.append(column: Column(name: "spectrum", contents: spectrum))
        frame.append(column: Column(name: "price", contents: price))
        frame.append(column: Column(name: "kind", contents: kind))
        frame.append(column: Column(name: "code", contents: code))
        frame.append(column: Column(name: "flag", contents: flag))
        return frame
    }

    static let features = ["area", "rooms", "city", "new", "notes", "spectrum"]

    /// The inputs of a model for a row; NaN and a text that is no category where a value is missing.
    static func inputs(_ frame: DataFrame, _ row: Int) throws -> MLDictionaryFeatureProvider {
        let spectrum = try MLMultiArray(frame["spectrum", [Double].self][row] ?? [.nan, .nan, .nan])
        let values: [String: Any] = [
            "area": frame["area", Double.self][row] ?? .nan,
            "rooms": frame["rooms", Int.self][row].map(Double.init) ?? .nan,
            "city": frame["city", String.self][row] ?? "?",
            "new": frame["new", Bool.self][row].map { $0 ? 1.0 : 0.0 } ?? .nan,
            "notes": frame["notes", [String: Double].self][row] ?? [:],
            "spectrum": spectrum,
        ]
        return try MLDictionaryFeatureProvider(dictionary: values)
    }
}
