import DeploymentPolicy
import Foundation
import UpdateFramework

/// The time that expiry is compared with: the device's clock, or a later time that is known to have passed.
///
/// A clock that is ahead makes everything expired, so nothing is installed until it is right again; such a time is not
/// stored.
struct TrustedClock {
    let path: String
    /// The clock.
    let now: @Sendable () -> Date
    /// The date at which the app's configuration was written.
    let built: PolicyDate?

    private struct Memory {
        /// The newest signed time.
        var time: PolicyDate
        /// The version of the root that its signers were trusted by.
        var root: Int
    }

    private var own: PolicyDate {
        let clock = PolicyDate(secondsSince1970: Int(now().timeIntervalSince1970))
        return built.map { max($0, clock) } ?? clock
    }

    func time() throws(DeploymentError) -> PolicyDate {
        let own = own
        return try memory().map { max($0.time, own) } ?? own
    }

    private func memory() throws(DeploymentError) -> Memory? {
        guard let text = try Durable.read(path) else { return nil }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        guard let first = lines.first, let time = PolicyDate(String(first)) else { return nil }
        return Memory(time: time, root: lines.dropFirst().first.flatMap { Int($0) } ?? 0)
    }

    /// Records that a time has passed, which the director signed.
    ///
    /// A time later than `start`, the check's, counts only when the repository's timestamp in `trusted`, which other
    /// keys sign, was still valid then: a director alone cannot push devices into a future in which everything has
    /// expired.
    func remember(_ signed: PolicyDate, start: PolicyDate, _ trusted: TrustedMetadata) throws(DeploymentError) {
        let limit = trusted.timestamp.map { PolicyDate(secondsSince1970: Int(clamping: $0.expires.secondsSince1970)) }
        guard signed <= start || limit.map({ signed <= $0 }) ?? false else { return }
        let memory = try memory()
        guard memory.map({ $0.time < signed || $0.root < trusted.root.version }) ?? true else { return }
        let newest = max(signed, memory?.time ?? signed)
        try Durable.write(Array("\(newest)\n\(trusted.root.version)\n".utf8), to: path)
    }

    /// Forgets a time whose signers a later root may not trust any more, and returns whether the check's time changes.
    ///
    /// A thief of the keys of the director and the timestamp can sign times in the future; recovery brings a new
    /// root.
    func forget(before root: Int) throws(DeploymentError) -> Bool {
        guard let memory = try memory(), memory.root < root, memory.time > own else { return false }
        try Durable.remove(path)
        return true
    }
}
