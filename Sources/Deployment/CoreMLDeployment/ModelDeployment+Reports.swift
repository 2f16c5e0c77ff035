import DeploymentClient
import DeploymentPolicy
import CoreML

extension ModelDeployment {
    /// What an app can say of the models that it uses.
    public enum Failure: Sendable {
        /// A model answered with an error, or with nonsense.
        case prediction
        /// A model took longer than the app can wait.
        case tooSlow
    }

    /// Tells that the models of a collection which the app uses now do not do their work: rollouts stop when that happens on
    /// too many devices.  It is sent with the next check, at most once a day for each kind.
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
