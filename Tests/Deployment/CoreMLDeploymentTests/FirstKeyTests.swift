import Foundation
import MLEncryption
import MLFiles
import MLPackaging
import Testing

/// An app whose first encrypted model comes from a collection: its key is wanted before any model was opened.
struct FirstKeyTests {
    @Test func theDeploymentServerIsAskedForTheFirstKey() throws {
        let folder = try FileAccess.makeTemporaryFolder("first-key")
        defer { try? FileAccess.remove(folder) }
        let key = try ModelKey.make(.x25519, team: "Acme", created: Dates.now, server: "https://keys.example")
        try KeyFiles.write(key.with(.publicKey), to: folder + "/K.mlmodelkey")
        let digits = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .appendingPathComponent("Fixtures/digits/Digits.mlpackage").path
        let model = try EncryptedCompilation.compile(
            ModelFile.open(path: digits),
            into: folder,
            key: folder + "/K.mlmodelkey"
        )

        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("DeliveryRunner")
        process.arguments = ["key", model]
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "COREML_DEPLOYMENT" }.merging([
            "COREML_KEY_STORE": folder + "/keys"
        ]) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 1)
        // It was asked, and says what it lacks.
        #expect(output.contains("ModelDeployment.json"), "\(output)")
    }
}
