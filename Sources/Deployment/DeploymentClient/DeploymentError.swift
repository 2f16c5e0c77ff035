/// The reason why a device does not get the models of a collection.
package struct DeploymentError: Error, Sendable, CustomStringConvertible {
    /// The kind of error: a stable word, which reports to the server contain, too.
    package enum Code: String, Sendable, CaseIterable {
        /// The app's configuration is missing or wrong.
        case configuration
        /// The server cannot be reached.
        case offline
        /// The server answered with an error.
        case server
        /// The server asked not to be contacted for a time.
        case busy
        /// Signed metadata was refused, for the reason in `UpdateError`.
        case metadata
        /// The policy was refused: not signed by the director, of another collection, older than one seen before, or
        /// expired.
        case policySignature, policyMismatch, policyRollback, policyExpired, policyMalformed
        /// The policy names a release that the publisher does not vouch for.
        case releaseMismatch, releaseMissing, releaseMalformed
        /// Bytes that arrived are not those that were signed.
        case damaged
        /// The disk cannot store the models.
        case storage
        /// A model that arrived cannot be loaded, answers wrongly, takes too long, or crashes.
        case load, selfTest, slow, crash
        /// The key of an encrypted model is not available.
        case key
        /// The download waits for the conditions that the app set.
        case deferred
        case cancelled
    }

    package let code: Code
    /// The thing concerned, such as a file or an address.
    package let culprit: String
    /// The problem and its remedy, as text.
    package let message: String
    /// The seconds after which to try again, where the server stated them.
    package let retryAfter: Int?

    package init(_ code: Code, _ culprit: String, _ message: String, retryAfter: Int? = nil) {
        self.code = code
        self.culprit = culprit
        self.message = message
        self.retryAfter = retryAfter
    }

    package var description: String { culprit.isEmpty ? message : "\(culprit): \(message)" }
}
