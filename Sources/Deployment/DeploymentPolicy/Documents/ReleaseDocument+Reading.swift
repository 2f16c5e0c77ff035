extension ReleaseDocument {
    /// The version of the format that this module reads and writes.
    public static let format = 1

    /// Reads a release document, which may come from anyone, and checks all of it.
    ///
    /// - Parameter bytes: JSON in UTF-8, at most ``Limits/documentBytes``.
    /// - Throws: a ``PolicyError`` that names the member, also for unknown members.
    public init(_ bytes: some Collection<UInt8>) throws(PolicyError) {
        let root = try DocumentValue(document: bytes)
        let format = try root.member("format")
        guard try format.integer() == Self.format else {
            throw format.error(
                .unsupported,
                "Only release documents of format 1 can be read.  Use a newer swift-coreml."
            )
        }
        try root.expectMembers([
            "format", "app", "collection", "number", "counter", "created", "minimumRuntime", "models", "notes",
            "metrics",
            "annotations",
        ])
        var models: [Model] = []
        for value in try root.member("models").list(atMost: Limits.models) { models.append(try Model(value)) }
        self.init(
            app: try root.member("app").text(),
            collection: try root.member("collection").text(),
            number: try root.member("number").integer(),
            counter: try root.member("counter").integer(),
            created: try root.member("created").date(),
            models: models
        )
        minimumRuntime = try root.optional("minimumRuntime")?.version()
        notes = try root.optional("notes")?.text()
        for value in try root.optional("metrics")?.list(atMost: Limits.metrics) ?? [] {
            metrics.append(try Metric(value))
        }
        for (name, value) in try root.optional("annotations")?.members() ?? [] { annotations[name] = try value.text() }
        try check()
    }
}

extension ReleaseDocument.Model {
    fileprivate init(_ value: DocumentValue) throws(PolicyError) {
        try value.expectMembers(["name", "archive", "version", "encryption", "selfTest", "deltas"])
        self.init(
            try value.member("name").text(),
            archive: try ReleaseDocument.Blob(try value.member("archive"), besides: [])
        )
        version = try value.optional("version")?.text()
        if let encryption = try value.optional("encryption") {
            try encryption.expectMembers(["keyID", "team"])
            self.encryption = ReleaseDocument.Encryption(
                keyID: try encryption.member("keyID").text(),
                team: try encryption.member("team").text()
            )
        }
        if let test = try value.optional("selfTest") {
            selfTest = ReleaseDocument.SelfTest(
                vectors: try ReleaseDocument.Blob(test, besides: ["tolerance", "slowdown"]),
                tolerance: try test.optional("tolerance")?.decimal(),
                slowdown: try test.optional("slowdown")?.decimal()
            )
        }
        for delta in try value.optional("deltas")?.list(atMost: Limits.deltas) ?? [] {
            let blob = try ReleaseDocument.Blob(delta, besides: ["from"])
            deltas.append(ReleaseDocument.Delta(from: try delta.member("from").text(), blob))
        }
    }
}

extension ReleaseDocument.Blob {
    fileprivate init(_ value: DocumentValue, besides names: Set<String>) throws(PolicyError) {
        try value.expectMembers(names.union(["sha256", "length"]))
        self.init(sha256: try value.member("sha256").text(), length: try value.member("length").integer())
    }
}

extension ReleaseDocument.Metric {
    fileprivate init(_ value: DocumentValue) throws(PolicyError) {
        try value.expectMembers(["name", "value", "model"])
        self.init(
            try value.member("name").text(),
            try value.member("value").decimal(),
            model: try value.optional("model")?.text()
        )
    }
}

extension ReleaseDocument {
    /// Checks the document against everything that the format demands.
    ///
    /// Throws a ``PolicyError`` that names the first member in error.
    public func check() throws(PolicyError) {
        try Check.app(app, at: "app")
        try Check.collection(collection, at: "collection")
        try Check.integer(number, 1...Limits.integer, at: "number")
        try Check.integer(counter, 1...Limits.integer, at: "counter")
        try checkModels()
        if let notes { try Check.text(notes, limit: Limits.notesBytes, lines: true, at: "notes") }
        try Check.count(metrics.count, Limits.metrics, at: "metrics")
        for (index, metric) in metrics.enumerated() {
            try Check.text(metric.name, limit: 128, at: "metrics[\(index)].name")
            try Check.finite(metric.value, at: "metrics[\(index)].value")
            guard metric.model.map({ name in models.contains { $0.name.utf8.elementsEqual(name.utf8) } }) ?? true else {
                throw PolicyError(.mismatch, at: "metrics[\(index)].model", "The release has no model of this name.")
            }
        }
        try Check.count(annotations.count, Limits.annotations, at: "annotations")
        for (name, text) in annotations.sorted(by: { $0.key < $1.key }) {
            try Check.name(name, limit: 128, at: "annotations.\(name)")
            try Check.text(text, at: "annotations.\(name)")
        }
    }

    private func checkModels() throws(PolicyError) {
        guard !models.isEmpty else { throw PolicyError(.badValues, at: "models", "A release has at least one model.") }
        try Check.count(models.count, Limits.models, at: "models")
        var names: Set<[UInt8]> = []
        for (index, model) in models.enumerated() {
            let path = "models[\(index)]"
            try withErrorPath(path) { () throws(PolicyError) in try model.check() }
            guard names.insert(Bytes.normalized(model.name, for: .word)).inserted else {
                throw PolicyError(.duplicate, at: "\(path).name", "Two models are called \"\(model.name)\".")
            }
        }
    }
}

extension ReleaseDocument.Model {
    fileprivate func check() throws(PolicyError) {
        try Check.modelName(name, at: "name")
        try archive.check(at: "archive")
        if let version { try Check.text(version, limit: 128, at: "version") }
        if let encryption {
            guard Hash.bytes(encryption.keyID, count: 16) != nil else {
                throw PolicyError(.badHash, at: "encryption.keyID", "32 lower-case hexadecimal digits are needed.")
            }
            try Check.text(encryption.team, limit: 200, at: "encryption.team")
        }
        if let selfTest {
            try selfTest.vectors.check(at: "selfTest")
            if let tolerance = selfTest.tolerance, !(tolerance.isFinite && tolerance >= 0) {
                throw PolicyError(.outOfRange, at: "selfTest.tolerance", "A tolerance of 0 or more is needed.")
            }
            if let slowdown = selfTest.slowdown, !(slowdown.isFinite && slowdown >= 1) {
                throw PolicyError(.outOfRange, at: "selfTest.slowdown", "A factor of 1 or more is needed.")
            }
        }
        try Check.count(deltas.count, Limits.deltas, at: "deltas")
        var sources: Set<String> = []
        for (index, delta) in deltas.enumerated() {
            let path = "deltas[\(index)]"
            try Check.hash(delta.from, at: "\(path).from")
            try delta.delta.check(at: path)
            guard sources.insert(delta.from).inserted else {
                throw PolicyError(.duplicate, at: "\(path).from", "Two deltas start from one archive.")
            }
        }
    }
}

extension ReleaseDocument.Blob {
    fileprivate func check(at path: String) throws(PolicyError) {
        try Check.hash(sha256, at: "\(path).sha256")
        try Check.integer(length, 1...Limits.integer, at: "\(path).length")
    }
}

extension Check {
    /// Checks a model's name, which becomes a file's: 1 to 128 bytes without slashes, not beginning with a point.
    static func modelName(_ name: String, at path: String) throws(PolicyError) {
        try text(name, limit: 128, at: path)
        guard !name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }),
            name.utf8.first != UInt8(ascii: ".")
        else { throw PolicyError(.badText, at: path, "A model's name has no slashes and begins with no point.") }
    }
}
