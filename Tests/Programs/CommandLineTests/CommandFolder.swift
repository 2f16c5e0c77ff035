import Foundation
import Testing

/// A folder for the files of a command's test, which is deleted with its owner.
final class CommandFolder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("command-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Writes a file, and the folders that it is in.
    /// - Returns: its path.
    @discardableResult func write(_ data: Data, _ name: String) throws -> String {
        let file = url.appendingPathComponent(name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try data.write(to: file)
        return file.path
    }

    @discardableResult func write(_ text: String, _ name: String) throws -> String {
        try write(Data(text.utf8), name)
    }

    func data(_ name: String) throws -> Data { try Data(contentsOf: url.appendingPathComponent(name)) }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() }
    }

    /// The JSON object in a line.
    static func object(_ line: some StringProtocol) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    /// The JSON object in the last line of what a command printed.
    static func last(_ run: Outcome) throws -> [String: Any] {
        try object(try #require(run.output.split(separator: "\n").last, "\(run.errors)"))
    }

    /// Runs commands that must fail, and holds the status and the error against what is expected.
    static func expectFailures(_ runs: [(arguments: [String], status: Int32, part: String)]) throws {
        for (arguments, status, part) in runs {
            let run = try coreml(arguments: arguments)
            #expect(run.status == status, "\(arguments): \(run.errors)")
            #expect(run.errors.contains(part), "\(arguments): \(run.errors)")
            #expect(run.output.isEmpty, "errors go to standard error: \(run.output)")
        }
    }

    /// The extents of a PNG picture.
    static func extents(ofPNG data: Data) throws -> (width: Int, height: Int) {
        let bytes = [UInt8](data)
        try #require(bytes.count > 33 && bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        func number(_ place: Int) -> Int { bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        return (number(16), number(20))
    }
}
