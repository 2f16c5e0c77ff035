package import Foundation

/// The connection from a client to its server.
package protocol Transport: Sendable {
    /// Sends a request and returns the answer.
    ///
    /// Throws `DeploymentError` with `offline` when there is no answer, or not in time, or with more than `limit`
    /// bytes.
    func send(_ request: TransportRequest) async throws(DeploymentError) -> TransportAnswer
}

package struct TransportRequest: Sendable {
    package var url: URL
    package var method = "GET"
    package var headers: [String: String] = [:]
    package var body: [UInt8]?
    /// The largest number of bytes to accept in the answer.
    package var limit: Int
    /// Receives the body of a partial answer (206) as it arrives, in order; the answer then has none.
    ///
    /// So the part that has arrived is of use when the rest does not arrive.
    package var receive: Receiver?

    package typealias Receiver = @Sendable (_ part: Part) throws(DeploymentError) -> Void

    /// Some bytes of a body.
    package struct Part: Sendable {
        /// The headers of the answer, by their names in lower case.
        package let headers: [String: String]
        package let bytes: [UInt8]

        package init(headers: [String: String], bytes: [UInt8]) {
            self.headers = headers
            self.bytes = bytes
        }
    }

    package init(_ url: URL, limit: Int) {
        self.url = url
        self.limit = limit
    }
}

package struct TransportAnswer: Sendable {
    package var status: Int
    /// The headers by their names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]

    package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
    /// The answer with its body passed to the request's receiver, for transports that have all of it at once.
    package func delivered(to request: TransportRequest) throws(DeploymentError) -> TransportAnswer {
        guard status == 206, let receive = request.receive else { return self }
        try receive(TransportRequest.Part(headers: headers, bytes: body))
        return TransportAnswer(status: status, headers: headers)
    }
}
