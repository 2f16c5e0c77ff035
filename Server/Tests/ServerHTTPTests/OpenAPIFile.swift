import Foundation
import HTTPTypes
import ServerCore
import ServerHTTP
import Yams

/// An operation of `openapi.yaml`, as far as tests need it.
struct APIOperation: Sendable, CustomStringConvertible {
    enum Demand: Sendable, Equatable {
        /// Open to all.
        case none
        /// Any good token.
        case identified
        case administrator
        case permission(Permission)
    }

    enum Scope: String, Sendable { case server, team, app, deployment }

    let id: String
    let method: HTTPRequest.Method
    /// With names in braces.
    let path: String
    let demand: Demand
    let scope: Scope
    /// Whether tokens of one app may do it although it concerns the whole team.
    let isForAppTokens: Bool
    /// The media type of the body and an example of it.
    let body: (type: String, example: String?)?
    /// The statuses that it can answer with.
    let statuses: Set<Int>

    var description: String { "\(method) \(path)" }
    var isChange: Bool { method != .get && method != .head }
}

enum OpenAPIFile {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    static func operations() throws -> [APIOperation] {
        let text = String(decoding: openAPIDocument, as: UTF8.self)
        guard let root = try Yams.load(yaml: text) as? [String: Any],
            let paths = root["paths"] as? [String: [String: Any]]
        else { throw Problem(description: "no paths") }
        return try paths.flatMap { path, item in
            try item.compactMap { name, value -> APIOperation? in
                guard let method = HTTPRequest.Method(name.uppercased()), name != "parameters" else { return nil }
                guard let fields = value as? [String: Any] else { throw Problem(description: path) }
                return try operation(path, method, fields)
            }
        }.sorted { $0.description < $1.description }
    }

    private static func operation(
        _ path: String,
        _ method: HTTPRequest.Method,
        _ fields: [String: Any]
    ) throws -> APIOperation {
        func text(_ name: String) throws -> String {
            guard let text = fields[name] as? String else { throw Problem(description: "\(path): no \(name)") }
            return text
        }
        let permission = try text("x-permission")
        let demand: APIOperation.Demand =
            switch permission {
            case "none": .none
            case "identified": .identified
            case "administrator": .administrator
            default:
                if let permission = Permission(rawValue: permission) {
                    .permission(permission)
                } else {
                    throw Problem(description: "\(path): there is no permission \(permission)")
                }
            }
        guard let scope = APIOperation.Scope(rawValue: try text("x-scope")) else {
            throw Problem(description: "\(path): x-scope")
        }
        let responses = fields["responses"] as? [String: Any] ?? [:]
        return APIOperation(
            id: try text("operationId"),
            method: method,
            path: path,
            demand: demand,
            scope: scope,
            isForAppTokens: fields["x-app-tokens"] as? Bool ?? false,
            body: try body(fields["requestBody"]),
            statuses: Set(responses.keys.compactMap { Int($0) })
        )
    }

    private static func body(_ value: Any?) throws -> (type: String, example: String?)? {
        guard let content = (value as? [String: Any])?["content"] as? [String: [String: Any]],
            let (type, fields) = content.first
        else { return nil }
        let example = try fields["example"].map { example in
            String(decoding: try JSONSerialization.data(withJSONObject: example, options: .sortedKeys), as: UTF8.self)
        }
        return (type, example)
    }
}
