public import Foundation
import FoundationNetworking
import Synchronization

/// A deployment server's connection to a key service that is a process of its own.
public final class KeyServiceLink: Sendable {
    /// The address of the key service.
    public let address: URL
    private let secret: KeyLinkSecret
    private let connections: URLSession
    /// The service's session, as last received.
    private let session = Mutex<[UInt8]>([UInt8](repeating: 0, count: 16))

    /// Creates a link to a key service at an address such as `http://host:port`.
    ///
    /// Throws a ``ServiceError`` for any other address.
    public init(_ address: URL, _ secret: KeyLinkSecret) throws(ServiceError) {
        guard ["http", "https"].contains(address.scheme), address.host != nil, address.query == nil else {
            throw .invalid(
                "key-service",
                "\"\(address)\" is not an address of a key service, such as http://127.0.0.1:8090."
            )
        }
        self.address = address
        self.secret = secret
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 20
        configuration.timeoutIntervalForResource = 20
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.httpMaximumConnectionsPerHost = 32
        connections = URLSession(configuration: configuration)
    }

    /// Sends a call and waits for the answer; `actor` is who wants it, for the service's audit log.
    func ask<Value: Codable & Sendable>(
        _ call: KeyCall,
        for actor: String,
        at time: Date,
        as type: Value.Type = Value.self
    ) async throws -> Value {
        let request = KeyLinkRequest(time: time.timeIntervalSince1970, actor: actor, call: call)
        let text = try JSONEncoder().encode(request)
        // A restarted service says so before it reads the request, so that it can be sent again.
        for _ in 0..<2 {
            let head = KeyLinkHead(session: session.withLock { $0 }, number: randomBytes(16))
            let (status, body) = try await send(Data(head.session + head.number + secret.seal(text, .request, head)))
            switch status {
            case 200:
                guard let answer = secret.open(body, .answer, head) else {
                    throw unreachable("its answer is not authentic")
                }
                return try JSONDecoder().decode(KeyLinkAnswer<Value>.self, from: answer).get()
            case 409 where body.count == 16: session.withLock { $0 = Array(body) }
            case 401: throw unreachable("it has another secret than this server")
            case 403: throw unreachable(String(decoding: body.prefix(200), as: UTF8.self))
            default: throw unreachable("it answers \(status)")
            }
        }
        throw unreachable("it restarts repeatedly")
    }

    private func send(_ message: Data) async throws -> (Int, Data) {
        var request = URLRequest(url: address.appendingPathComponent("v1/link"))
        request.httpMethod = "POST"
        request.httpBody = message
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        do {
            let (body, response) = try await connections.data(for: request)
            return ((response as? HTTPURLResponse)?.statusCode ?? 0, body)
        } catch let error as URLError {
            throw unreachable(error.localizedDescription)
        }
    }

    private func unreachable(_ why: String) -> ServiceError {
        ServiceError(.unavailable, "The key service at \(address) cannot be reached: \(why).", retryAfter: 5)
    }
}
