import CDashboardFiles
import Crypto
import Foundation
import Mustache

/// The files of the dashboard, which are part of the executable: a copied executable has them all.
struct DashboardFiles: Sendable {
    struct Served: Sendable {
        let type: String
        let bytes: [UInt8]
    }

    /// The files that browsers load besides pages, by name.
    let served: [String: Served]
    let templates: MustacheLibrary
    /// A text that changes with the files, so that browsers may cache them for ever.
    let version: String

    init() throws {
        var served: [String: Served] = [:]
        var templates = MustacheLibrary()
        var hash = SHA256()
        var index: UInt = 0
        while let file = dashboard_file(index)?.pointee {
            let name = String(cString: file.name)
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: Int(file.count)))
            if let type = file.type {
                served[name] = Served(type: String(cString: type), bytes: bytes)
                hash.update(data: bytes)
            } else {
                try templates.register(String(decoding: bytes, as: UTF8.self), named: name)
            }
            index += 1
        }
        self.served = served
        self.templates = templates
        version = hash.finalize().prefix(8).map { String(format: "%02x", $0) }.joined()
    }
}
