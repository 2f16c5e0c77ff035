import Foundation

/// A Python program's output, to be shown beside this package's figures; `nil` when there is no Python or it lacks what
/// the program imports.
///
/// The interpreter is `COREML_ORACLES`' own, when that environment variable names a folder that
/// `Oracles/Shared/environment` filled, else `python3`.
public func peer(_ program: String, _ arguments: [String] = []) -> String? {
    let process = Process()
    let environment = ProcessInfo.processInfo.environment
    if let oracles = environment["COREML_ORACLES"], FileManager.default.fileExists(atPath: oracles + "/bin/python") {
        process.executableURL = URL(fileURLWithPath: oracles + "/bin/python")
        process.arguments = ["-c", program] + arguments
    } else {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program] + arguments
    }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return nil }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}
