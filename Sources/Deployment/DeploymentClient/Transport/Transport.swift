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
    /// Takes the body of a part (206) as it arrives, in order, so that what has arrived is of use when the rest does not; the
    /// answer then has none.
    package var receive: Receiver?

    package typealias Receiver = @Sendable (_ part: Part) throws(DeploymentError) -> Void

    /// Some more bytes of a body.
    package struct Part: Sendable {
        /// Those of the answer, by their names in lower case.
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
    /// By their names in lower case.
    package var headers: [String: String]
    package var body: [UInt8]

    package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
    /// The answer with its body given to who takes the parts of bodies, for transports that have all of it at once.
    package func delivered(to request: TransportRequest) throws(DeploymentError) -> TransportAnswer {
        guard status == 206, let receive = request.receive else { return self }
        try receive(TransportRequest.Part(headers: headers, bytes: body))
        return TransportAnswer(status: status, headers: headers)
    }
}
