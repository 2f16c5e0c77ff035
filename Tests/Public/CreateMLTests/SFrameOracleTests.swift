import CreateML
import Foundation
import TabularData
import Testing

/// The folder that `Oracles/sframes/check` filled with Turi Create's frames.
private let oracleFolder = ProcessInfo.processInfo.environment["COREML_SFRAMES"]

/// Turi Create's frames as text, which the script compares with Turi Create's own, and written anew.
@Suite(.serialized, .enabled(if: oracleFolder != nil)) struct SFrameOracleTests {
    private let folder: URL

    init() throws { folder = URL(fileURLWithPath: try #require(oracleFolder), isDirectory: true) }

    private struct Case: Decodable {
        let name: String
        /// Columns that data frames hold, and those that tables do.
        let frameColumns: [String]
        let tableColumns: [String]
        /// Rows that are read besides all.
        let ranges: [[Int]]
    }

    @Test func `Frames are read and written`() throws {
        let file = folder.appendingPathComponent("cases.json")
        let cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
        #expect(!cases.isEmpty)
        for one in cases {
            let own = folder.appendingPathComponent(one.name, isDirectory: true)
            let frame = own.appendingPathComponent("frame", isDirectory: true)
            for (number, range) in ([nil] + one.ranges.map { $0[0]..<$0[1] }).enumerated() {
                let read = try DataFrame(contentsOfSFrameDirectory: frame, columns: one.frameColumns, rows: range)
                #expect(read.columns.map(\.name) == one.frameColumns)
                for (place, column) in read.columns.enumerated() {
                    let text = own.appendingPathComponent("ours-\(number)-\(place).txt")
                    try Data(Self.text(column).utf8).write(to: text)
                }
            }
            let table = try MLDataTable(contentsOf: frame, options: .init(selectColumns: one.tableColumns))
            try table.write(to: own.appendingPathComponent("written", isDirectory: true))
        }
    }

    private static func text(_ column: AnyColumn) -> String {
        var text = ""
        switch column.wrappedElementType {
        case is Int.Type: for value in column.assumingType(Int.self) { text += value.map { "i\($0)\n" } ?? "none\n" }
        case is Double.Type:
            for value in column.assumingType(Double.self) { text += (value.map { Self.text($0) } ?? "none") + "\n" }
        default: for value in column { text += Self.text(value) + "\n" }
        }
        return text
    }

    /// The form that the script gives Turi Create's values, too.
    private static func text(_ value: Any?) -> String {
        switch value {
        case .none: return "none"
        case let number as Int: return "i\(number)"
        case let number as Double: return "f" + String(number.bitPattern, radix: 16)
        case let string as String:
            var text = "s"
            for byte in string.utf8 {
                text += byte < 16 ? "0" : ""
                text += String(byte, radix: 16)
            }
            return text
        case let numbers as [Double]: return "v[" + numbers.map { text($0) }.joined(separator: ",") + "]"
        case let date as Date:
            let microseconds = Int((date.timeIntervalSinceReferenceDate * 1e6).rounded())
            return "t\(microseconds + Int(Date.timeIntervalBetween1970AndReferenceDate) * 1_000_000)"
        case let array as ShapedData<Double>:
            var places = [0]
            for (extent, stride) in zip(array.shape, array.strides) {
                places = places.flatMap { place in (0..<extent).map { place + $0 * stride } }
            }
            let shape = array.shape.map { "\($0)" }.joined(separator: "x")
            return "a\(shape)[" + places.map { text(array.contents[$0]) }.joined(separator: ",") + "]"
        case let dictionary as [AnyHashable: Any?]:
            let entries = dictionary.map { text($0.key.base) + ":" + text($0.value) }
            return "d{"
                + entries.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
                .joined(separator: ",") + "}"
        case let list as [Any?]: return "l[" + list.map { text($0) }.joined(separator: ",") + "]"
        case .some(let other): return "?\(type(of: other))"
        }
    }

    private static let timed = (oracleFolder ?? "") + "/speed/frame"

    @Test(.enabled(if: FileManager.default.fileExists(atPath: timed), "Oracles/sframes/check --speed writes it"))
    func `Reading takes this long`() throws {
        let frame = URL(fileURLWithPath: Self.timed, isDirectory: true)
        /// Of all threads, in seconds.
        func processorTime() -> Double { Double(clock()) / 1e6 }
        var times: [Double] = []
        for _ in 0..<3 {
            let start = processorTime()
            let read = try DataFrame(contentsOfSFrameDirectory: frame)
            times.append(processorTime() - start)
            #expect(read.shape == (1_000_000, 10))
        }
        try JSONEncoder().encode(times).write(to: folder.appendingPathComponent("speed/ours.json"))
    }
}
