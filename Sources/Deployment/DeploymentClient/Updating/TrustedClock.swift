import DeploymentPolicy
import Foundation
import UpdateFramework

/// The time that expiry is compared with: the device's clock, unless something that is known to be past says that it is behind.
///
/// A clock that is ahead makes everything expired, so nothing is installed until it is right again; nothing of it is remembered.
struct TrustedClock {
    let path: String
    /// The clock.
    let now: @Sendable () -> Date
    /// When the app's configuration was written.
    let built: PolicyDate?

    private struct Memory {
        /// The newest time that somebody signed.
        var time: PolicyDate
        /// The version of the root that those who signed it were trusted by.
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

    /// Remembers that a time has passed, which the director signed.
    ///
    /// - Parameters:
    ///   - start: the time of the check.  A time that is later counts only when the repository's timestamp, which others sign,
    ///     was still good then: a director alone cannot push devices into a future in which everything is expired.
    ///   - trusted: the metadata that the director was trusted by.
    func remember(_ signed: PolicyDate, start: PolicyDate, _ trusted: TrustedMetadata) throws(DeploymentError) {
        let limit = trusted.timestamp.map { PolicyDate(secondsSince1970: Int(clamping: $0.expires.secondsSince1970)) }
        guard signed <= start || limit.map({ signed <= $0 }) ?? false else { return }
        let memory = try memory()
        guard memory.map({ $0.time < signed || $0.root < trusted.root.version }) ?? true else { return }
        let newest = max(signed, memory?.time ?? signed)
        try Durable.write(Array("\(newest)\n\(trusted.root.version)\n".utf8), to: path)
    }

    /// Forgets a time that those signed whom a later root may not trust any more.
    ///
    /// Whoever stole the keys of the director and the timestamp can date what they sign in the future; recovery brings a new root.
    /// - Returns: whether the time of the check is another one now.
    func forget(before root: Int) throws(DeploymentError) -> Bool {
        guard let memory = try memory(), memory.root < root, memory.time > own else { return false }
        try Durable.remove(path)
        return true
    }
}
