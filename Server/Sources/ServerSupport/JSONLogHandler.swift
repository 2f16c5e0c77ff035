import Foundation
package import Logging

/// Logs one JSON object per line to standard error.
package struct JSONLogHandler: LogHandler {
    package var logLevel = Logger.Level.notice
    package var metadata: Logger.Metadata = [:]

    package init() {}

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        var members = ["time": Date().ISO8601Format(), "level": event.level.rawValue, "message": "\(event.message)"]
        for (name, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 })
        where members[name] == nil {
            members[name] = "\(value)"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(members) else { return }
        // One call, so that lines of several threads do not mix.
        FileHandle.standardError.write(line + [0x0A])
    }
}
