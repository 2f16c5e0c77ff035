import ArgumentParser
import Foundation
import FoundationNetworking
import Synchronization

/// An error that a command prints on standard error before it exits with status 1.
struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The server and the token that a command uses.
struct ServerOptions: ParsableArguments {
    @Option(help: "The server's address; otherwise COREML_SERVER, or the one given to coreml deploy login.")
    var server: String?
    @Option(help: "A token; otherwise COREML_TOKEN, or the one from coreml deploy login.")
    var token: String?
    @Flag(help: "Print the server's JSON.")
    var json = false

    func client() throws -> ServerClient {
        let environment = ProcessInfo.processInfo.environment
        let stored = try Credentials.stored()
        guard let address = server ?? environment["COREML_SERVER"] ?? stored?.server, let url = URL(string: address)
        else {
            throw Failure("The server is not known. Sign in with coreml deploy login LINK, or pass --server URL.")
        }
        guard let token = token ?? environment["COREML_TOKEN"] ?? stored?.token else {
            throw Failure("Sign in with coreml deploy login LINK, or pass --token mlk_….")
        }
        return ServerClient(server: url, token: token)
    }

    /// Prints an answer: as JSON, or as `body` formats it.
    func show<Value: Decodable>(_ data: Data, as type: Value.Type, _ body: (Value) -> Void) throws {
        if json {
            FileHandle.standardOutput.write(data + Data("\n".utf8))
        } else {
            body(try ServerClient.decode(type, data))
        }
    }
}

/// The default server and token of commands, in a file that only the user can read.
struct Credentials: Codable {
    let server: String
    let token: String

    private static var path: String {
        let environment = ProcessInfo.processInfo.environment
        let base =
            environment["XDG_CONFIG_HOME"].flatMap { $0.isEmpty ? nil : $0 }
            ?? FileManager.default.homeDirectoryForCurrentUser.path + "/.config"
        return base + "/swift-coreml/server.json"
    }

    static func stored() throws -> Credentials? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        do { return try JSONDecoder().decode(Credentials.self, from: data) } catch {
            throw Failure("\(path) cannot be read: sign in again with coreml deploy login.")
        }
    }

    /// Deletes the file.
    static func forget() throws {
        guard unlink(path) == 0 || errno == ENOENT else { throw Failure("\(path) cannot be removed.") }
    }

    func store() throws {
        let path = Self.path
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let temporary = path + ".\(ProcessInfo.processInfo.processIdentifier)"
        let isMade = FileManager.default.createFile(
            atPath: temporary,
            contents: try JSONEncoder().encode(self),
            attributes: [.posixPermissions: 0o600]
        )
        guard isMade, rename(temporary, path) == 0 else { throw Failure("\(path) cannot be written.") }
    }
}

/// A client of a server's API.
struct ServerClient {
    let server: URL
    let token: String?

    private struct Refusal: Decodable {
        struct Content: Decodable {
            let code: String
            let message: String
            let field: String?
        }

        let error: Content
    }

    func get(_ path: String, _ query: [String: String] = [:]) throws -> Data { try send("GET", path, query) }

    func post(_ path: String, _ body: some Encodable) throws -> Data {
        try send("POST", path, [:], body: try JSONEncoder().encode(body))
    }

    /// Sends encoded JSON.
    func post(_ path: String, json: Data) throws -> Data { try send("POST", path, [:], body: json) }

    func post(_ path: String) throws -> Data { try send("POST", path, [:]) }

    func put(_ path: String, _ body: some Encodable) throws -> Data {
        try send("PUT", path, [:], body: try JSONEncoder().encode(body))
    }

    func delete(_ path: String) throws -> Data { try send("DELETE", path, [:]) }

    /// Gets a document that devices fetch and that needs no token; `path` begins with a slash.
    func getOpen(_ path: String) throws -> Data {
        var request = try request("GET", "", [:])
        var parts = URLComponents(url: server, resolvingAgainstBaseURL: false)
        parts?.path = (server.path == "/" ? "" : server.path) + path
        guard let url = parts?.url else { throw Failure("\(server) is not an address of a server.") }
        request.url = url
        request.setValue(nil, forHTTPHeaderField: "Authorization")
        let message = request
        return try finish(message) { session, handler in session.dataTask(with: message, completionHandler: handler) }
    }

    /// Sends a file as the body of a request.
    func upload(_ file: String, to path: String, _ query: [String: String]) throws -> Data {
        var request = try request("POST", path, query)
        request.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
        return try finish(request) { session, handler in
            session.uploadTask(with: request, fromFile: URL(fileURLWithPath: file), completionHandler: handler)
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        do { return try decoder.decode(type, from: data) } catch {
            throw Failure("The server's answer cannot be read; is it of another version? (\(error))")
        }
    }

    // MARK: Requests

    private func request(_ method: String, _ path: String, _ query: [String: String]) throws -> URLRequest {
        var parts = URLComponents(url: server, resolvingAgainstBaseURL: false)
        parts?.path = (server.path == "/" ? "" : server.path) + "/api/v1/" + path
        if !query.isEmpty {
            parts?.queryItems = query.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0, value: $1) }
        }
        guard let url = parts?.url else { throw Failure("\(server) is not an address of a server.") }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.timeoutInterval = 600
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        return request
    }

    private func send(_ method: String, _ path: String, _ query: [String: String], body: Data? = nil) throws -> Data {
        var request = try request(method, path, query)
        request.httpBody = body
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        let message = request
        return try finish(message) { session, handler in session.dataTask(with: message, completionHandler: handler) }
    }

    private typealias Handler = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

    private func finish(
        _ request: URLRequest,
        _ make: (URLSession, @escaping Handler) -> URLSessionTask
    ) throws -> Data {
        let waiting = DispatchSemaphore(value: 0)
        let outcome = Outcome()
        let session = URLSession(configuration: .ephemeral)
        make(session) { data, response, error in
            outcome.set(data, (response as? HTTPURLResponse)?.statusCode, error)
            waiting.signal()
        }.resume()
        waiting.wait()
        session.finishTasksAndInvalidate()
        let (data, status, error) = outcome.value
        if let error { throw Failure("\(server) cannot be reached: \(error.localizedDescription)") }
        guard let status, (200..<300).contains(status) else {
            if let data, let refusal = try? JSONDecoder().decode(Refusal.self, from: data) {
                let field = refusal.error.field.map { "\($0): " } ?? ""
                throw Failure(field + refusal.error.message)
            }
            throw Failure("\(request.url?.absoluteString ?? ""): the server answered \(status ?? 0).")
        }
        return data ?? Data()
    }
}

/// The outcome of a request, passed between threads.
private final class Outcome: Sendable {
    private let stored = Mutex<(Data?, Int?, (any Error)?)>((nil, nil, nil))

    func set(_ data: Data?, _ status: Int?, _ error: (any Error)?) { stored.withLock { $0 = (data, status, error) } }

    var value: (Data?, Int?, (any Error)?) { stored.withLock { $0 } }
}
