/// The state of a collection on a device and its reasons, for people.
package struct CollectionStatus: Sendable, CustomStringConvertible {
    package let identifier: String
    package let state: CollectionState
    package let check: CheckRecord?

    /// Reads the state; throws `storage` when a file is damaged.
    package init(of identifier: String, in store: CollectionStore) throws(DeploymentError) {
        self.identifier = identifier
        state = try store.state(identifier)
        check = try store.lastCheck(identifier)
    }

    /// One line: the models that the app uses now and next.
    package var summary: String {
        "\(identifier): \(Self.name(state.current))\(state.next.map { ", then \(Self.name($0))" } ?? "")"
    }

    /// Lines for a terminal.
    package var description: String {
        var lines = ["\(identifier): \(Self.name(state.current)) now"]
        if let next = state.next { lines.append("  from the next launch on: \(Self.name(next))") }
        if let previous = state.previous {
            lines.append("  before: \(Self.name(previous)), which is used again if this fails")
        }
        if let trial = state.trial { lines.append("  on trial, started \(trial.attempts) times") }
        if !state.failed.isEmpty {
            lines.append("  failed here: \(state.failed.count) releases, which are not tried again")
        }
        if !state.isAccessed { lines.append("  the app has ended its access") }
        guard let check else { return (lines + ["  the server was never contacted"]).joined(separator: "\n") }
        lines.append("  asked \(check.date): \(check.result.rawValue)\(check.code.map { " (\($0))" } ?? "")")
        if let message = check.message { lines.append("    \(message)") }
        if let next = check.next { lines.append("  next check about \(next)") }
        if let version = check.policyVersion {
            lines.append("  policy \(version) of \(check.deployment ?? "no deployment"):")
        }
        if let explanation = check.explanation {
            lines += explanation.split(separator: "\n").map { "    \($0)" }
        }
        return lines.joined(separator: "\n")
    }

    private static func name(_ installed: CollectionState.Installed?) -> String {
        guard let installed else { return "the models of the app (nothing was delivered yet)" }
        let origin = installed.deployment.isEmpty ? "" : " (\(installed.deployment))"
        return (installed.release == nil ? "the models of the app" : "release \(installed.number)") + origin
    }
}
