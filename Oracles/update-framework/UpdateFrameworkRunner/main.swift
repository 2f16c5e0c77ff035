import Foundation
import UpdateFramework

/// The command of tuf-conformance (`init`, `refresh`, `download`), and `histories`, which follows repositories that a script
/// makes up.
let arguments = Array(CommandLine.arguments.dropFirst())
do {
    if arguments.first == "histories" {
        try await Histories.run()
    } else {
        try await ConformanceClient(arguments).run()
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
