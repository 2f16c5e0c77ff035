import Crypto
public import Foundation
public import FoundationNetworking
import ServerDatabase

/// An address that is notified of events in a team.
public struct Webhook: Sendable, Codable, Equatable {
    /// The webhook's identifier.
    public let id: String
    /// The team.
    public let team: String
    /// The address.
    public let url: String
    /// The prefixes of the actions it is notified of: `deployment` includes `deployment.pause`; all when empty.
    public let actions: [String]
    /// The date at which it was created.
    public let created: Date
    /// The name of who created it.
    public let createdBy: String
    /// The result of the last delivery: an HTTP status or an error; empty before the first.
    public let lastStatus: String
}

/// The body of a message: an entry of the audit log.
private struct WebhookBody: Encodable {
    let type: String
    let timestamp: Date
    let data: Content

    struct Content: Encodable {
        let team: String
        let actor: String
        let subject: String
        let detail: [String: String]
        let sequence: Int
    }
}

extension Service {
    /// Creates a webhook; a team has at most 32.
    ///
    /// Returns the webhook, and the secret that its messages are signed with, which cannot be shown again. Throws a
    /// ``ServiceError`` that names the wrong member, or without permission.
    public func createWebhook(
        _ address: String,
        actions: [String],
        team: String,
        as actor: Principal
    ) async throws -> (webhook: Webhook, secret: String) {
        try actor.require(.manageMembers, in: team)
        guard let url = URL(string: address), let scheme = url.scheme, ["http", "https"].contains(scheme),
            url.host?.isEmpty == false, url.user == nil, address.utf8.count <= 2000
        else {
            throw ServiceError.invalid("url", "An address that begins with https:// or http:// is needed.")
        }
        let areWords = actions.allSatisfy { action in
            (1...64).contains(action.utf8.count) && action.utf8.allSatisfy { (0x20...0x7E).contains($0) }
        }
        guard actions.count <= 32, areWords else {
            throw ServiceError.invalid(
                "actions",
                "At most 32 prefixes of actions, such as \"deployment\", are accepted."
            )
        }
        let secret = SymmetricKey(size: .bits256).withUnsafeBytes { "whsec_" + Data($0).base64EncodedString() }
        let webhook = Webhook(
            id: Self.identifier(),
            team: team,
            url: address,
            actions: actions,
            created: now(),
            createdBy: actor.name,
            lastStatus: ""
        )
        try await database.write { connection in
            let count = try connection.first("SELECT COUNT(*) AS n FROM webhooks WHERE team = ?", team)
            guard try count?.integer("n") ?? 0 < 32 else {
                throw ServiceError.conflict("A team has at most 32 webhooks.")
            }
            try connection.execute(
                "INSERT INTO webhooks (id, team, url, secret, actions, created, created_by, last_status) "
                    + "VALUES (?, ?, ?, ?, ?, ?, ?, '')",
                webhook.id,
                team,
                address,
                secret,
                try JSON.text(actions),
                webhook.created.milliseconds,
                actor.name
            )
            try Audit.record(
                connection,
                at: webhook.created,
                actor,
                team: team,
                "webhook.create",
                webhook.id,
                ["url": address]
            )
        }
        return (webhook, secret)
    }

    /// The webhooks of a team.
    public func webhooks(of team: String, as actor: Principal) async throws -> [Webhook] {
        try actor.require(.manageMembers, in: team)
        return try await database.read { connection in
            try connection.query("SELECT * FROM webhooks WHERE team = ? ORDER BY created", team).map { row in
                Webhook(
                    id: try row.text("id"),
                    team: try row.text("team"),
                    url: try row.text("url"),
                    actions: try JSON.read([String].self, row.text("actions")),
                    created: try row.date("created"),
                    createdBy: try row.text("created_by"),
                    lastStatus: try row.text("last_status")
                )
            }
        }
    }

    /// Removes a webhook and its pending messages; throws a ``ServiceError`` when there is none.
    public func removeWebhook(_ id: String, of team: String, as actor: Principal) async throws {
        try actor.require(.manageMembers, in: team)
        let time = now()
        try await database.write { connection in
            try connection.execute("DELETE FROM webhook_deliveries WHERE webhook = ?", id)
            guard try connection.execute("DELETE FROM webhooks WHERE id = ? AND team = ?", id, team) == 1 else {
                throw ServiceError.notFound("webhook \"\(id)\"")
            }
            try Audit.record(connection, at: time, actor, team: team, "webhook.remove", id)
        }
    }

    // MARK: Delivering

    /// The number of times a message is tried, the last time about a day after the first.
    static let maximumDeliveryAttemptCount = 12

    /// The seconds until the next attempt.
    static func deliveryDelay(after attempts: Int) -> Int { min(20 << min(attempts, 12), 6 * 3600) }

    /// A message that is due.
    struct Delivery: Sendable {
        let id: String
        let webhook: String
        let url: String
        let secret: String
        let body: String
        let attempts: Int
    }

    /// Sends the messages of webhooks that are due; failed ones are sent again later.
    ///
    /// `send` returns the status of the answer.
    public func deliverWebhooks(
        _ send: @Sendable (URLRequest) async throws -> Int = WebhookSession.shared.send
    ) async throws {
        for delivery in try await takeDeliveries() {
            let status: String
            var isTaken = false
            do {
                let code = try await send(try Self.request(delivery, at: now()))
                isTaken = (200..<300).contains(code)
                status = "\(code)"
            } catch { status = error.localizedDescription }
            let (done, text) = (isTaken || delivery.attempts + 1 >= Self.maximumDeliveryAttemptCount, status)
            try await database.write { connection in
                if done { try connection.execute("DELETE FROM webhook_deliveries WHERE id = ?", delivery.id) }
                try connection.execute("UPDATE webhooks SET last_status = ? WHERE id = ?", text, delivery.webhook)
            }
        }
    }

    /// The messages that are due, each postponed at once, so that no other replica sends it meanwhile.
    private func takeDeliveries() async throws -> [Delivery] {
        let time = now().milliseconds
        let due = "FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook WHERE d.due <= ?"
        let isIdle = try await database.read { connection in
            try connection.first("SELECT d.id \(due) LIMIT 1", time) == nil
        }
        if isIdle { return [] }
        return try await database.write { connection in
            let deliveries = try connection.query(
                "SELECT d.id, d.webhook, d.body, d.attempts, w.url, w.secret \(due) ORDER BY d.due LIMIT 32",
                time
            ).map { row in
                Delivery(
                    id: try row.text("id"),
                    webhook: try row.text("webhook"),
                    url: try row.text("url"),
                    secret: try row.text("secret"),
                    body: try row.text("body"),
                    attempts: try row.integer("attempts")
                )
            }
            for delivery in deliveries {
                try connection.execute(
                    "UPDATE webhook_deliveries SET attempts = ?, due = ? WHERE id = ?",
                    delivery.attempts + 1,
                    time + Self.deliveryDelay(after: delivery.attempts) * 1000,
                    delivery.id
                )
            }
            return deliveries
        }
    }

    /// A message, signed according to Standard Webhooks (https://www.standardwebhooks.com).
    static func request(_ delivery: Delivery, at time: Date) throws -> URLRequest {
        guard let url = URL(string: delivery.url), let key = Data(base64Encoded: String(delivery.secret.dropFirst(6)))
        else { throw DatabaseError.unexpected("url", .text(delivery.url)) }
        let seconds = String(Int(time.timeIntervalSince1970))
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(delivery.id).\(seconds).\(delivery.body)".utf8),
            using: SymmetricKey(data: key)
        )
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.timeoutInterval = 15
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.setValue(delivery.id, forHTTPHeaderField: "webhook-id")
        request.setValue(seconds, forHTTPHeaderField: "webhook-timestamp")
        request.setValue("v1," + Data(code).base64EncodedString(), forHTTPHeaderField: "webhook-signature")
        request.httpBody = Data(delivery.body.utf8)
        return request
    }
}

extension Audit {
    /// Queues an entry of the audit log for the webhooks that want it.
    static func tellWebhooks(
        _ connection: any Connection,
        at time: Date,
        _ actor: Principal,
        team: String,
        _ action: String,
        _ subject: String,
        _ detail: [String: String],
        sequence: Int
    ) throws {
        for row in try connection.query("SELECT id, actions FROM webhooks WHERE team = ?", team) {
            let requested = try JSON.read([String].self, row.text("actions"))
            guard requested.isEmpty || requested.contains(where: { action.hasPrefix($0) }) else { continue }
            let body = WebhookBody(
                type: action,
                timestamp: time,
                data: .init(team: team, actor: actor.name, subject: subject, detail: detail, sequence: sequence)
            )
            try connection.execute(
                "INSERT INTO webhook_deliveries (id, webhook, body, attempts, due, created) VALUES (?, ?, ?, 0, ?, ?)",
                "msg_" + Service.identifier(),
                try row.text("id"),
                try JSON.text(body),
                time.milliseconds,
                time.milliseconds
            )
        }
    }
}

/// Sends messages of webhooks without following redirects, and without cookies.
public final class WebhookSession: NSObject, URLSessionTaskDelegate, Sendable {
    /// The session that the server uses.
    public static let shared = WebhookSession()

    /// Sends a message and returns the status of the answer.
    @Sendable public func send(_ request: URLRequest) async throws -> Int {
        let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
        defer { session.finishTasksAndInvalidate() }
        return try await withCheckedThrowingContinuation { continuation in
            session.dataTask(with: request) { _, response, error in
                if let response = response as? HTTPURLResponse {
                    continuation.resume(returning: response.statusCode)
                } else {
                    continuation.resume(throwing: error ?? URLError(.badServerResponse))
                }
            }.resume()
        }
    }

    /// Refuses redirects.
    public func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
