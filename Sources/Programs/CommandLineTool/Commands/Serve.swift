import ArgumentParser
import Foundation

/// Becomes `coreml-serve`, which a package of its own builds: a server needs libraries that nothing else here needs.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve models over HTTP and gRPC with the Open Inference Protocol (KServe v2).",
        discussion: """
            Examples:
              coreml serve MobileNet.mlpackage
              coreml serve models/ --max-batch 16 --max-delay 2
              coreml serve --help

            The arguments are those of coreml-serve, which must be beside coreml or in PATH. A release includes it as an \
            archive and a Debian package; in a checkout, scripts/programs --server coreml-serve builds it.
            """
    )

    private static let program = "coreml-serve"

    @Argument(parsing: .captureForPassthrough, help: "The arguments of coreml-serve.")
    var arguments: [String] = []

    func run() throws {
        guard let path = Self.path else {
            throw Failure(
                """
                There is no \(Self.program) beside coreml or in PATH. Install the release's archive or Debian package of that \
                name, or build it in a checkout with scripts/programs --server \(Self.program).
                """
            )
        }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        execv(path, &words)
        throw Failure("\(path) cannot be started: \(String(cString: strerror(errno))).")
    }

    /// The folder that this program lies in.
    private static var folder: String? {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().path
        }
    }

    /// The program beside this one, otherwise the first in `PATH`.
    private static var path: String? {
        let listed = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = [folder].compactMap { $0 } + listed.split(separator: ":").map(String.init)
        return folders.map { $0 + "/" + program }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
