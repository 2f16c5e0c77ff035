import DeploymentClient
import DeploymentPolicy
import CoreML

extension ModelDeployment {
    /// A failure of a collection's models that only the app can see.
    public enum Failure: Sendable {
        /// A model failed with an error or returned useless results.
        case prediction
        /// A model took longer than the app can wait.
        case tooSlow
    }

    /// Reports that the present models of a collection do not work.
    ///
    /// A rollout stops when too many devices report failures. The report is sent with the next check, at most once a
    /// day for each kind.
    ///
    /// - Parameters:
    ///   - failure: The kind of failure.
    ///   - identifier: The collection's name on the server.
    /// - Throws: `MLModelError.modelCollection` when the app has no deployment server.
    public static func report(_ failure: Failure, for identifier: String) async throws {
        do throws(DeploymentError) {
            let client = try client()
            let release = try await client.open(identifier).installed.number
            let reason: FailureSummary.Reason = failure == .prediction ? .prediction : .other
            client.updater.reporter?.note(.failed(reason), release: release, of: identifier)
        } catch { throw MLModelError(error, of: identifier) }
    }
}
