/// Why a device does not get the models of a collection.
package struct DeploymentError: Error, Sendable, CustomStringConvertible {
    /// The kind of error: a stable word, which reports to the server carry, too.
    package enum Code: String, Sendable, CaseIterable {
        /// The app's configuration is missing or wrong.
        case configuration
        /// Nobody answers.
        case offline
        /// The server answers with an error.
        case server
        /// The server asks to be left alone for a time.
        case busy
        /// Signed metadata was refused: `UpdateError` says why.
        case metadata
        /// The policy was refused: not signed by the director, of another collection, older than one that was seen, expired.
        case policySignature, policyMismatch, policyRollback, policyExpired, policyMalformed
        /// The policy names a release that the publisher does not vouch for.
        case releaseMismatch, releaseMissing, releaseMalformed
        /// Bytes that arrived are not those that were signed.
        case damaged
        /// The disk cannot take the models.
        case storage
        /// A model that arrived cannot be loaded, answers wrongly, takes too long, or ends the process.
        case load, selfTest, slow, crash
        /// The key of an encrypted model cannot be had.
        case key
        /// The download waits for what the app asked for.
        case deferred
        case cancelled
    }

    package let code: Code
    /// What is concerned, such as a file or an address.
    package let culprit: String
    /// What is wrong and what helps.
    package let message: String
    /// After how many seconds trying again makes sense, where the server said so.
    package let retryAfter: Int?

    package init(_ code: Code, _ culprit: String, _ message: String, retryAfter: Int? = nil) {
        self.code = code
        self.culprit = culprit
        self.message = message
        self.retryAfter = retryAfter
    }

    package var description: String { culprit.isEmpty ? message : "\(culprit): \(message)" }
}
