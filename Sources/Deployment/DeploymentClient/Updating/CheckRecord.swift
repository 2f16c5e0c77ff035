package import DeploymentPolicy
import MLEncryption
import MLFiles
import MLNumerics
import Synchronization

/// The result of the last check of a collection, and the reasons for the models that the device gets.
package struct CheckRecord: Sendable, Equatable {
    package enum Result: String, Sendable {
        case current, arrived, deferred, failed
    }

    /// The date at which the check ended.
    package var date: PolicyDate
    package var result: Result
    /// The `DeploymentError.Code` of a failure; `nil` when nothing failed.
    package var code: String?
    /// A sentence on the failure, or what a download waits for, or, without a code, why a delta was not used.
    package var message: String?
    /// The date at which the server wants to be asked again.
    package var next: PolicyDate?
    /// The newest policy that was verified, and the results of its rules; possibly from an earlier check.
    package var policyVersion: Int?
    package var deployment: String?
    package var explanation: String?

    package init(date: PolicyDate, result: Result) {
        self.date = date
        self.result = result
    }

    static let format: Int64 = 1

    var text: [UInt8] {
        var members: [JSONValue.Member] = [
            .init("date", .string(date.description)), .init("format", .integer(Self.format)),
            .init("result", .string(result.rawValue)),
        ]
        let texts = [
            ("code", code), ("deployment", deployment), ("explanation", explanation), ("message", message),
            ("next", next?.description),
        ]
        for (name, text) in texts { if let text { members.append(.init(name, .string(text))) } }
        if let policyVersion { members.append(.init("policyVersion", .integer(Int64(policyVersion)))) }
        return CanonicalWriter.bytes(.object(members))
    }

    init(text: [UInt8]) throws(ModelError) {
        let json = try JSONReader.read(text)
        guard json["format"] == .integer(Self.format), let date = json["date"]?.string.flatMap({ PolicyDate($0) }),
            let result = json["result"]?.string.flatMap({ Result(rawValue: $0) })
        else { throw ModelError(.malformed, "This is not a record of a check.") }
        self.init(date: date, result: result)
        code = json["code"]?.string
        message = json["message"]?.string
        next = json["next"]?.string.flatMap { PolicyDate($0) }
        deployment = json["deployment"]?.string
        explanation = json["explanation"]?.string
        if case .integer(let version)? = json["policyVersion"] { policyVersion = Int(version) }
    }
}

extension CollectionStore {
    private func recordPath(_ identifier: String) -> String { collectionFolder(identifier) + "/check.json" }

    /// The result of the last check; `nil` when there was none.
    package func lastCheck(_ identifier: String) throws(DeploymentError) -> CheckRecord? {
        let path = recordPath(identifier)
        guard let text = try Durable.read(path) else { return nil }
        do throws(ModelError) { return try CheckRecord(text: text) } catch {
            throw DeploymentError(.storage, path, "The record of the last check was damaged; remove the file.")
        }
    }

    /// Stores the result of a check; a full disk loses it and nothing else.
    func keep(_ record: CheckRecord, of identifier: String) {
        try? Durable.makeFolder(collectionFolder(identifier))
        try? Durable.write(record.text, to: recordPath(identifier))
    }
}

/// The facts that become known during a check.
final class CheckJournal: Sendable {
    private let state = Mutex<(policy: Policy, explanation: String)?>(nil)
    private let deltaFailure = Mutex<DeploymentError?>(nil)

    /// Records that a delta could not be used, and the whole archive was fetched instead.
    func noteDelta(_ error: DeploymentError) { deltaFailure.withLock { $0 = error } }

    /// A remark on a successful check; `nil` for none.
    var remark: String? {
        deltaFailure.withLock { $0 }.map {
            "A delta could not be used, so that whole pieces were fetched: \($0.description)"
        }
    }

    func note(_ policy: Policy, _ explanation: Explanation) {
        state.withLock { $0 = (policy, explanation.description) }
    }

    /// The record of the check, completed from an earlier one where this one did not get so far.
    func record(_ result: CheckRecord.Result, at date: PolicyDate, after last: CheckRecord?) -> CheckRecord {
        var record = CheckRecord(date: date, result: result)
        let known = state.withLock { $0 }
        record.policyVersion = known?.policy.version ?? last?.policyVersion
        record.deployment = known?.policy.deployment ?? last?.deployment
        record.explanation = known?.explanation ?? last?.explanation
        return record
    }
}
