import Foundation
import MLDelta
import MLFiles
import MLNumerics
import MLPackaging

/// Makes deltas to an archive that is about to be released, from those of earlier releases, where the machine has the
/// keys.
struct ReleaseDeltas {
    let client: ServerClient
    let team: String
    /// The path of the collection on the server.
    let collection: String
    /// The number of earlier releases to make deltas from.
    let count: Int
    /// Reports the outcome for each release.
    let tell: (String) -> Void

    private struct Release: Decodable {
        struct Model: Decodable {
            let name: String
            let archive: String
        }

        let number: Int
        let models: [Model]
    }

    /// Uploads deltas to the archive in `file`, whose hash is `hash`, from the archives of `name` in the last releases.
    func make(of name: String, to file: String, hash: String) throws {
        guard count > 0 else { return }
        let releases = try ServerClient.decode([Release].self, try client.get(collection + "/releases"))
            .sorted { $0.number > $1.number }.prefix(count)
        let isReadable: Bool
        do throws(ModelError) { isReadable = try DeltaPackaging.isReadable(file) } catch {
            throw Failure(error.description)
        }
        guard isReadable || releases.isEmpty else { return tell("\(file): no deltas, as its key is not available") }
        var seen: Set = [hash]
        for release in releases {
            guard let old = release.models.first(where: { $0.name == name })?.archive, seen.insert(old).inserted else {
                continue
            }
            try make(from: old, to: file, "release \(release.number)")
        }
    }

    private func make(from old: String, to file: String, _ title: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("coreml-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let archive = folder.appendingPathComponent("old.mlarchive")
        try client.getOpen("/b/sha256/\(old)").write(to: archive)
        let request = DeltaPackaging.Request(old: archive.path, output: folder.path + "/delta.mldelta")
        let outcome: DeltaWriter.Outcome
        do throws(ModelError) { outcome = try DeltaPackaging.write(request, to: file) } catch {
            // With a public key alone, deltas are made by `coreml archive --delta-from` before the model is encrypted.
            guard error.code == .keyFetch else { throw Failure(error.description) }
            return tell("\(file): no delta from \(title), as a key is not available")
        }
        guard outcome.isWritten else {
            return tell(
                "\(file): no delta from \(title): it would have \(outcome.byteCount) bytes, and devices fetch "
                    + "\(outcome.planByteCount) without it"
            )
        }
        _ = try client.uploadFile(request.output, team: team, kind: "deltas")
        tell(
            "\(file): a delta of \(outcome.byteCount) bytes from \(title), whose devices fetch \(outcome.planByteCount) without it"
        )
    }
}
