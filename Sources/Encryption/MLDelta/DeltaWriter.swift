import Crypto
package import MLArchive
package import MLEncryption
package import MLFiles
package import MLNumerics

/// Makes deltas on the publisher's machine, where both models are available in the clear.
package enum DeltaWriter {
    /// A model in an archive, with its contents in the clear.
    package struct Model {
        package let archive: ModelArchive
        package let contents: any FolderContents
        /// The content key of an encrypted model.
        package let contentKey: SecretBytes?

        package init(_ archive: ModelArchive, contents: any FolderContents, contentKey: SecretBytes? = nil) {
            self.archive = archive
            self.contents = contents
            self.contentKey = contentKey
        }
    }

    /// The result of making a delta.
    package struct Outcome: Sendable {
        /// The length of the delta in bytes.
        package let byteCount: Int
        /// The number of bytes that devices with the old archive fetch without it: the pieces that they do not have.
        package let planByteCount: Int
        /// Whether the delta is small enough, and was written.
        package let isWritten: Bool
    }

    /// The default for the largest share of the bytes that devices would fetch otherwise.
    package static let usualShare = 0.6

    /// Writes a delta from `old` to `new` to `path`, unless it exceeds `share` of the bytes that devices fetch without
    /// it.
    package static func write(
        from old: Model,
        to new: Model,
        path: String,
        share: Double = usualShare,
        created: String = Dates.now,
        tool: String = "swift-coreml"
    ) throws(ModelError) -> Outcome {
        let record = try new.archive.record
        guard record == nil || new.contentKey != nil else {
            throw ModelError(.keyFetch, "The key of the encrypted model is not available.", at: new.archive.path)
        }
        let file = try OpenFile(new.archive.path)
        let start = try ArchiveStart(try file.bytes(at: 0, count: ArchiveStart.byteCount))
        let recordText = try record == nil ? [] : recordText(new.archive)
        let header = DeltaHeader(
            created: created,
            old: try description(of: old.archive.path),
            new: try description(of: new.archive.path),
            prefixByteCount: start.byteCount,
            recordByteCount: recordText.count,
            tool: tool
        )
        var body = try body(from: old, to: new)
        if let record, let contentKey = new.contentKey {
            body = sealed(body, contentKey, header.context(record.contentID))
        }
        let parts = try [header.start, file.bytes(at: 0, count: start.byteCount), recordText, body]
        let byteCount = parts.reduce(0) { $0 + $1.count }
        let plan = start.byteCount + planned(old.archive.header, new.archive.header)
        let isWorthIt = Double(byteCount) <= share * Double(plan)
        if isWorthIt {
            let result = try NewFile(replacing: path)
            for part in parts { try result.append(part) }
            try result.finish()
        }
        return Outcome(byteCount: byteCount, planByteCount: plan, isWritten: isWorthIt)
    }

    /// The number of bytes of the pieces that devices with the old archive do not have.
    private static func planned(_ old: ArchiveHeader, _ new: ArchiveHeader) -> Int {
        let known = Set(old.files.flatMap(\.chunks).map(\.hash))
        return new.files.flatMap(\.chunks).filter { !known.contains($0.hash) }.reduce(0) { $0 + $1.byteCount }
    }

    private static func recordText(_ archive: ModelArchive) throws(ModelError) -> [UInt8] {
        guard let file = archive.header.files.first(where: { $0.path == ModelVaults.encryptionName }) else { return [] }
        return try archive.stored(file).bytes()
    }

    private static func description(of path: String) throws(ModelError) -> DeltaHeader.Archive {
        let file = try OpenFile(path)
        var hash = SHA256()
        for start in stride(from: 0, to: file.byteCount, by: 1 << 20) {
            hash.update(data: try file.bytes(at: start, count: min(1 << 20, file.byteCount - start)))
        }
        return DeltaHeader.Archive(hash: Array(hash.finalize()), byteCount: file.byteCount)
    }

    private static func sealed(_ body: [UInt8], _ contentKey: SecretBytes, _ context: [UInt8]) -> [UInt8] {
        var stored: [UInt8] = []
        body.withUnsafeBytes { bytes in
            Cobblestone.seal(bytes, key: contentKey, context: context) { stored += $0 }
        }
        return stored
    }

    // MARK: Body

    /// The descriptions of all files of the new archive, in its order, except `encryption.json`.
    private static func body(from old: Model, to new: Model) throws(ModelError) -> [UInt8] {
        let oldFiles = old.archive.header.files
        var body: [UInt8] = []
        for file in new.archive.header.files where !isRecord(file, of: new.archive.header) {
            let contents = try contents(of: file.path, in: new)
            let number = oldFiles.firstIndex { $0.path == file.path && !isRecord($0, of: old.archive.header) }
            let before: TensorStorage? =
                if number != nil { try Self.contents(of: file.path, in: old) } else { nil }
            var (count, text) = (0, [UInt8]())
            contents.withBytes { newBytes in
                (before ?? TensorStorage(byteCount: 0)).withBytes { oldBytes in
                    FileDifference(new: newBytes, old: oldBytes, file: number ?? 0).segments { segment, packed in
                        count += 1
                        text += segment.bytes
                        text += packed
                    }
                }
            }
            body += (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            body += text
        }
        return body
    }

    private static func isRecord(_ file: ArchiveHeader.File, of header: ArchiveHeader) -> Bool {
        header.encryption != nil && file.path == ModelVaults.encryptionName
    }

    private static func contents(of path: String, in model: Model) throws(ModelError) -> TensorStorage {
        guard let contents = try model.contents.contents(of: path) else {
            throw ModelError(
                .invalidInput,
                "The archive has a file that the model does not have: \(path).",
                at: model.archive.path
            )
        }
        return contents
    }
}
