import ArgumentParser
import Logging
import ServerSupport

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
