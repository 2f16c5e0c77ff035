import MLEncryption
import MLFiles

extension ReleaseDocument {
    /// The document in canonical JSON (RFC 8785); equal documents have equal bytes.
    ///
    /// Throws a ``PolicyError`` where ``check()`` does, and `tooLarge` beyond ``Limits/documentBytes``.
    public func bytes() throws(PolicyError) -> [UInt8] {
        try check()
        let bytes = CanonicalWriter.bytes(json)
        guard bytes.count <= Limits.documentBytes else {
            let message = "The release would have \(bytes.count) bytes; it may have \(Limits.documentBytes)."
            throw PolicyError(.tooLarge, at: "", message)
        }
        return bytes
    }

    private var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("format", .integer(Self.format)),
            .init("app", .string(app)),
            .init("collection", .string(collection)),
            .init("number", .integer(number)),
            .init("counter", .integer(counter)),
            .init("created", .string(created.description)),
            .init("models", .array(models.map(\.json))),
            .init("metrics", .array(metrics.map(\.json))),
            .init("annotations", .object(annotations.map { .init($0.key, .string($0.value)) })),
        ]
        if let minimumRuntime { members.append(.init("minimumRuntime", .string(minimumRuntime.description))) }
        if let notes { members.append(.init("notes", .string(notes))) }
        return .object(members)
    }
}

extension ReleaseDocument.Blob {
    fileprivate var members: [JSONValue.Member] {
        [.init("sha256", .string(sha256)), .init("length", .integer(length))]
    }
}

extension ReleaseDocument.Model {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("name", .string(name)),
            .init("archive", .object(archive.members)),
            .init(
                "deltas",
                .array(deltas.map { .object([.init("from", .string($0.from))] + $0.delta.members) })
            ),
        ]
        if let version { members.append(.init("version", .string(version))) }
        if let encryption {
            members.append(
                .init(
                    "encryption",
                    .object([.init("keyID", .string(encryption.keyID)), .init("team", .string(encryption.team))])
                )
            )
        }
        if let selfTest {
            let tolerance = selfTest.tolerance.map { [JSONValue.Member("tolerance", .decimal($0))] } ?? []
            let slowdown = selfTest.slowdown.map { [JSONValue.Member("slowdown", .decimal($0))] } ?? []
            members.append(.init("selfTest", .object(selfTest.vectors.members + tolerance + slowdown)))
        }
        return .object(members)
    }
}

extension ReleaseDocument.Metric {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [.init("name", .string(name)), .init("value", .decimal(value))]
        if let model { members.append(.init("model", .string(model))) }
        return .object(members)
    }
}
