package import MLEncryption
import MLFiles
package import MLNumerics

/// A signature of an archive: a DSSE envelope around an in-toto statement that names the hash of the header.
///
/// The statement follows from the archive alone, so that only the signature itself is stored.
package struct ArchiveSignature: Sendable {
    package let signer: SigningKey.Public
    package let value: [UInt8]
    package let payload: [UInt8]

    package static let payloadType = "application/vnd.in-toto+json"
    package static let predicateType = "https://swift-coreml.org/mlarchive/v1"
    private static let maximumCount = 16

    /// The in-toto statement of an archive.
    package static func statement(name: String, headerHash: [UInt8]) -> [UInt8] {
        CanonicalWriter.bytes(
            .object([
                .init("_type", .string("https://in-toto.io/Statement/v1")),
                .init("predicate", .object([])),
                .init("predicateType", .string(predicateType)),
                .init(
                    "subject",
                    .array([
                        .object([
                            .init("digest", .object([.init("sha256", .string(Hexadecimal.text(headerHash)))])),
                            .init("name", .string(name)),
                        ])
                    ])
                ),
            ])
        )
    }

    /// The bytes that are signed: DSSE's pre-authentication encoding.
    package static func encoding(_ payload: [UInt8]) -> [UInt8] {
        Array("DSSEv1 \(payloadType.utf8.count) \(payloadType) \(payload.count) ".utf8) + payload
    }

    package static func sign(
        name: String,
        headerHash: [UInt8],
        with key: SigningKey
    ) throws(ModelError) -> ArchiveSignature {
        let payload = statement(name: name, headerHash: headerHash)
        return ArchiveSignature(signer: key.publicKey, value: try key.sign(encoding(payload)), payload: payload)
    }

    /// Whether this is a valid signature of the archive with this name and header.
    package func matches(name: String, headerHash: [UInt8]) -> Bool {
        payload == Self.statement(name: name, headerHash: headerHash)
            && signer.verify(value, of: Self.encoding(payload))
    }

    // MARK: Text

    /// The text of an archive's signatures; empty when there are none.
    package static func text(_ list: [ArchiveSignature]) -> [UInt8] {
        list.isEmpty ? [] : CanonicalWriter.bytes(.array(list.map(\.json)))
    }

    private var json: JSONValue {
        .object([
            .init("payload", .string(Base64.text(payload))), .init("payloadType", .string(Self.payloadType)),
            .init(
                "signatures",
                .array([
                    .object([
                        .init("keyid", .string(Base64.text(signer.bytes))), .init("sig", .string(Base64.text(value))),
                    ])
                ])
            ),
        ])
    }

    package static func list(_ text: [UInt8]) throws(ModelError) -> [ArchiveSignature] {
        guard !text.isEmpty else { return [] }
        return try CanonicalReader.read(text) { (reader) throws(ModelError) in
            try reader.list(limit: maximumCount) { (item) throws(ModelError) in
                try item.object { (envelope) throws(ModelError) in try ArchiveSignature(members: &envelope) }
            }
        }
    }

    private init(members envelope: inout CanonicalReader) throws(ModelError) {
        payload = try envelope.member("payload") { (value) throws(ModelError) in try value.base64(limit: 8192) }
        try envelope.member("payloadType") { (value) throws(ModelError) in
            try value.string("application/vnd.in-toto+json")
        }
        let pairs = try envelope.member("signatures") { (list) throws(ModelError) in
            try list.list(limit: 1) { (item) throws(ModelError) in
                try item.object { (signature) throws(ModelError) in
                    (
                        try signature.member("keyid") { (value) throws(ModelError) in try value.base64(count: 32) },
                        try signature.member("sig") { (value) throws(ModelError) in try value.base64(count: 64) }
                    )
                }
            }
        }
        guard let pair = pairs.first else { throw envelope.error("a signature was expected") }
        (signer, value) = (SigningKey.Public(bytes: pair.0), pair.1)
    }

    private init(signer: SigningKey.Public, value: [UInt8], payload: [UInt8]) {
        self.signer = signer
        self.value = value
        self.payload = payload
    }
}
