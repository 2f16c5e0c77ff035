import ArgumentParser
import Foundation
import Logging

/// The least severity of logged messages.
enum LogLevel: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error, critical

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .notice }
}

/// The format of the server's log.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json

    func logger(_ level: LogLevel) -> Logger {
        var logger = Logger(label: "coreml-server") { label in
            switch self {
            case .text: StreamLogHandler.standardError(label: label)
            case .json: JSONLogHandler()
            }
        }
        logger.logLevel = level.level
        return logger
    }
}

/// Logs one JSON object per line to standard error.
struct JSONLogHandler: LogHandler {
    var logLevel = Logger.Level.notice
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
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
