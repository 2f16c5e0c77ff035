import MLArchive
import MLDelta
import MLEncryption
import MLFiles
import MLNumerics
import Testing

/// The vectors of Documentation/Formats/mldelta.md, which scripts/generate/format-vectors wrote with Python.
@Suite struct DeltaVectorTests {
    /// Bytes in base64 and numbers of zeros.
    private func dense(_ value: JSONValue?) throws -> [UInt8] {
        guard case .array(let parts)? = value else { throw ModelError(.malformed, "no list") }
        return try parts.flatMap { part -> [UInt8] in
            if case .integer(let count) = part { return [UInt8](repeating: 0, count: Int(count)) }
            return try #require(part.string.flatMap { Base64.bytes($0.utf8) })
        }
    }

    @Test func deltasOfPythonMakeTheirArchives() throws {
        let root = FileAccess.folder(of: FileAccess.folder(of: FileAccess.folder(of: FileAccess.folder(of: #filePath))))
        let json = try JSONReader.read(FileAccess.read(root + "/Documentation/Formats/vectors/mldelta.json"))
        guard case .array(let vectors)? = json["vectors"] else { throw ModelError(.malformed, "no vectors") }
        #expect(vectors.count > 30)
        let folder = try FileAccess.makeTemporaryFolder("delta")
        defer { try? FileAccess.remove(folder) }
        try FileAccess.write(dense(vectors[0]["old"]), to: folder + "/old")
        let old = try ModelArchive(folder + "/old")
        for vector in vectors {
            let name = vector["name"]?.string ?? ""
            let bytes = try #require(vector["delta"]?.string.flatMap { Base64.bytes($0.utf8) })
            try FileAccess.write(bytes, to: folder + "/delta")
            func apply() throws {
                let delta = try DeltaFile(folder + "/delta")
                let key = try vector["key"]?.string.map { text in
                    try Array(text.utf8).withUnsafeBytes { try ModelKey(text: $0) }
                }
                let contentKey = try key.flatMap { key in try delta.record?.contentKey(key) }
                try delta.apply(to: (old.header, old.contents), contentKey: contentKey, path: folder + "/made")
            }
            if vector["valid"] == .bool(true) {
                #expect(throws: Never.self, "\(name)") { try apply() }
                #expect(try FileAccess.read(folder + "/made") == dense(vector["new"]), "\(name)")
                try FileAccess.remove(folder + "/made")
            } else {
                #expect(throws: ModelError.self, "\(name)") { try apply() }
                #expect(FileAccess.kind(of: folder + "/made") == nil, "\(name)")
            }
        }
    }
}
