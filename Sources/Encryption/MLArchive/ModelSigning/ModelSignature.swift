package import MLEncryption
import MLFiles
package import MLNumerics

/// A signature of a model (`model.sig`) in the form of OpenSSF Model Signing.
///
/// It is a Sigstore bundle with a DSSE envelope around an in-toto statement that lists the files of the model:
/// Documentation/Formats/model-signature.md.
package struct ModelSignature: Sendable {
    /// The signed files.
    package let manifest: ModelManifest

    /// The usual name of a signature's file.
    package static let fileName = "model.sig"
    /// The largest length of a signature in bytes.
    package static let maximumByteCount = 16 << 20
    private static let mediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

    // MARK: Signing

    /// The text of a signature.
    package static func text(of manifest: ModelManifest, signedBy key: ModelSigningKey) throws(ModelError) -> [UInt8] {
        guard !manifest.resources.isEmpty else {
            throw ModelError(.invalidInput, "The model has no files to sign.", at: manifest.name)
        }
        let payload = manifest.statement
        let signature = JSONValue.object([
            .init("keyid", .string("")),
            .init("sig", .string(Base64.text(try key.sign(ArchiveSignature.encoding(payload))))),
        ])
        let envelope = JSONValue.object([
            .init("payload", .string(Base64.text(payload))),
            .init("payloadType", .string(ArchiveSignature.payloadType)),
            .init("signatures", .array([signature])),
        ])
        let material = JSONValue.object([
            .init("publicKey", .object([.init("hint", .string(key.publicKey.hint))])),
            .init("tlogEntries", .array([])),
        ])
        return CanonicalWriter.bytes(
            .object([
                .init("dsseEnvelope", envelope), .init("mediaType", .string(mediaType)),
                .init("verificationMaterial", material),
            ])
        )
    }

    // MARK: Verifying

    /// Reads a signature, and throws unless the holder of `key` made it.
    package init(_ text: [UInt8], by key: ModelSigningKey.Public) throws(ModelError) {
        guard text.count <= Self.maximumByteCount else { throw Self.malformed("it is too large") }
        let bundle = try JSONReader.read(text)
        guard bundle["mediaType"]?.string == Self.mediaType else {
            throw Self.malformed("it is not a Sigstore bundle of version 0.3")
        }
        try Self.check(bundle["verificationMaterial"], key)
        let envelope = bundle["dsseEnvelope"]
        guard envelope?["payloadType"]?.string == ArchiveSignature.payloadType,
            let payload = envelope?["payload"]?.string.flatMap({ Base64.bytes($0.utf8) }),
            case .array(let signatures)? = envelope?["signatures"], signatures.count == 1,
            let value = signatures.first?["sig"]?.string.flatMap({ Base64.bytes($0.utf8) })
        else { throw Self.malformed("its envelope is not one statement with one signature") }
        guard key.verify(value, of: ArchiveSignature.encoding(payload)) else {
            throw ModelError(.malformed, "The signature is wrong: it was changed, or another key made it.")
        }
        manifest = try ModelManifest(statement: payload)
    }

    /// Throws unless the bundle says that a key made it, and this one if it says which.
    private static func check(_ material: JSONValue?, _ key: ModelSigningKey.Public) throws(ModelError) {
        for kind in ["certificate", "x509CertificateChain"] where material?[kind] != nil {
            throw ModelError(
                .unsupported,
                "The signature was made with a certificate, which this version does not follow to its root; verify it with "
                    + "model_signing."
            )
        }
        guard let name = material?["publicKey"] else { throw malformed("it does not state its key") }
        guard let hint = name["hint"]?.string, !hint.isEmpty else { return }
        guard hint == key.hint else {
            throw ModelError(.malformed, "Another key made the signature: its name is \(hint), not \(key.hint).")
        }
    }

    private static func malformed(_ reason: String) -> ModelError {
        ModelError(.malformed, "This is not a signature of a model: \(reason).")
    }

    /// Throws unless the model at `path` is the one that was signed; `location` is the path of the signature.
    package func check(_ path: String, signature location: String) throws(ModelError) {
        let isFile = manifest.resources.map(\.path) == ["."]
        if !isFile, FileAccess.kind(of: path) == .file {
            let archive = try ModelArchive(path)
            try archive.verify()
            return try manifest.check(ModelManifest(of: archive, ignored: manifest.ignored))
        }
        try manifest.check(ModelManifest(of: path, signature: location, ignored: manifest.ignored))
    }
}
