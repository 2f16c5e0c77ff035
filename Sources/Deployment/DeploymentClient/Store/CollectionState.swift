import MLEncryption
import MLFiles
import MLNumerics

/// The state of a collection on a device: one file, which is replaced as a whole.
package struct CollectionState: Sendable, Equatable {
    /// Models that a device has, or has to use: those of a release, or those of the app bundle.
    package struct Installed: Sendable, Equatable {
        /// The hash of the release document, which names its folder; `nil` for the models of the app bundle.
        package var release: String?
        /// The number of the release; 0 for the bundle.
        package var number: Int
        /// The release's counter, which the policy's emergency floor is compared with.
        package var counter: Int
        /// The deployment that installed it.
        package var deployment: String

        package static func bundled(_ deployment: String) -> Installed {
            Installed(release: nil, number: 0, counter: 0, deployment: deployment)
        }
    }

    /// A release that has not passed its test on this device yet.
    package struct Trial: Sendable, Equatable {
        /// The number of times its test was started.
        package var attempts: Int
    }

    /// The models that the app uses; `nil` before the first delivery.
    package var current: Installed?
    /// The models that it uses from the next launch on.
    package var next: Installed?
    /// The models that it used before, and uses again when `current` fails.
    package var previous: Installed?
    /// The trial of `current`; `nil` when there is none.
    package var trial: Trial?
    /// The hashes of releases that failed here, which are not tried again.
    package var failed: [String] = []
    /// Whether the app has requested the collection and has not ended the access.
    package var isAccessed = true
    /// The newest policy that was seen.
    package var policyVersion = 0

    package init() {}

    /// The largest number of remembered failed releases.
    private static let maximumFailureCount = 64

    // MARK: Changes

    /// Makes the models that have arrived current.
    mutating func flip() {
        guard let next else { return }
        if trial == nil, current?.release != nil { previous = current }
        current = next
        self.next = nil
        trial = next.release == nil || next == previous ? nil : Trial(attempts: 0)
        if previous == current { previous = nil }
    }

    /// Replaces `current` with the previous models, or those of the app bundle.
    mutating func fallBack() {
        if let release = current?.release, !failed.contains(release) {
            failed.append(release)
            failed = failed.suffix(Self.maximumFailureCount)
        }
        let deployment = current?.deployment ?? ""
        current = previous ?? .bundled(deployment)
        previous = nil
        trial = nil
        if let release = next?.release, failed.contains(release) { next = nil }
    }

    /// The hashes of the releases that must stay on the disk.
    var needed: Set<String> { Set([current, next, previous].compactMap { $0?.release }) }

    // MARK: Text

    static let format: Int64 = 1

    var text: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("accessed", .bool(isAccessed)),
            .init("failed", .array(failed.map { .string($0) })),
            .init("format", .integer(Self.format)),
            .init("policyVersion", .integer(Int64(policyVersion))),
        ]
        for (name, installed) in [("current", current), ("next", next), ("previous", previous)] {
            if let installed { members.append(.init(name, installed.json)) }
        }
        if let trial { members.append(.init("trial", .integer(Int64(trial.attempts)))) }
        return CanonicalWriter.bytes(.object(members))
    }

    init(text: [UInt8]) throws(ModelError) {
        let json = try JSONReader.read(text)
        guard json["format"] == .integer(Self.format), case .bool(let accessed)? = json["accessed"],
            case .integer(let version)? = json["policyVersion"], case .array(let failed)? = json["failed"]
        else { throw ModelError(.malformed, "This is not a state of a collection.") }
        isAccessed = accessed
        policyVersion = Int(version)
        self.failed = failed.compactMap(\.string)
        current = try json["current"].map { (value) throws(ModelError) in try Installed(value) }
        next = try json["next"].map { (value) throws(ModelError) in try Installed(value) }
        previous = try json["previous"].map { (value) throws(ModelError) in try Installed(value) }
        if case .integer(let attempts)? = json["trial"] { trial = Trial(attempts: Int(attempts)) }
    }
}

extension CollectionState.Installed {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("counter", .integer(Int64(counter))), .init("deployment", .string(deployment)),
            .init("number", .integer(Int64(number))),
        ]
        if let release { members.append(.init("release", .string(release))) }
        return .object(members)
    }

    fileprivate init(_ json: JSONValue) throws(ModelError) {
        guard case .integer(let number)? = json["number"], case .integer(let counter)? = json["counter"],
            let deployment = json["deployment"]?.string
        else { throw ModelError(.malformed, "This is not a state of a collection.") }
        self.init(
            release: json["release"]?.string,
            number: Int(number),
            counter: Int(counter),
            deployment: deployment
        )
    }
}
