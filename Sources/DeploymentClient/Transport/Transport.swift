package import Foundation

/// How a client reaches its server.
package protocol Transport: Sendable {
    /// Asks for something.
    /// - Throws: `DeploymentError` with `offline` when nobody answers, or not in time, or with more than `limit` bytes.
    func send(_ request: TransportRequest) async throws(DeploymentError) -> TransportAnswer
}

package struct TransportRequest: Sendable {
    package var url: URL
    package var method = "GET"
    package var headers: [String: String] = [:]
    package var body: [UInt8]?
    /// The most bytes to take of the answer.
    package var limit: Int

    package init(_ url: URL, limit: Int) {
        self.url = url
        self.limit = limit
    }
}

package struct TransportAnswer: Sendable {
    package var status: Int
    /// By their names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]

    package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
