import Foundation
import ServerDatabase
import Synchronization

/// Refused requests and sign-ins that are not yet in the audit log.
///
/// Writing takes a disk access, and the time of an answer must not reveal whether something exists: so refusals are
/// collected here and written periodically. The same refusal is kept once with its count, and only a limited number of
/// different ones, so nobody can fill the log.
final class DenialLog: Sendable {
    enum Key: Hashable, Sendable {
        /// A refused request, with the code of the answer and the method and path that were requested.
        case access(ServiceError.Denial, code: String, request: String)
        /// A failed sign-in to an account, with the factor that was wrong.
        case signIn(account: String, wrong: String)
    }

    struct Count: Sendable {
        var count = 0
        let first: Date
    }

    private static let maximumCount = 1000
    private let kept = Mutex<[Key: Count]>([:])

    func add(_ key: Key, at time: Date) {
        kept.withLock { kept in
            guard kept.count < Self.maximumCount || kept[key] != nil else { return }
            kept[key, default: Count(first: time)].count += 1
        }
    }

    func take() -> [(key: Key, value: Count)] {
        kept.withLock { kept in
            defer { kept = [:] }
            return kept.sorted { $0.value.first < $1.value.first }
        }
    }
}

extension Service {
    /// Records for the audit log that a request was refused for lack of permission; other errors are ignored.
    ///
    /// `request` is its method and path, such as `POST /api/v1/teams/acme/apps`.
    public func note(_ error: ServiceError, request: String) {
        guard let denial = error.denial else { return }
        denials.add(.access(denial, code: error.code.rawValue, request: String(request.prefix(512))), at: now())
    }

    /// Writes the collected refusals into the audit logs of their teams.
    public func writeDenials() async throws {
        let used = denials.take()
        guard !used.isEmpty else { return }
        try await database.write { connection in
            for (key, value) in used {
                switch key {
                case .access(let denial, let code, let request):
                    let details = ["answer": code, "takes": denial.reason, "count": String(value.count)]
                    try Self.record(denial, of: request, details, at: value.first, connection)
                case .signIn(let account, let wrong):
                    let details = ["wrong": wrong, "count": String(value.count)]
                    try Audit.record(
                        connection,
                        at: value.first,
                        .server,
                        team: "",
                        "account.signInFailed",
                        account,
                        details
                    )
                }
            }
        }
    }

    private static func record(
        _ denial: ServiceError.Denial,
        of request: String,
        _ details: [String: String],
        at time: Date,
        _ connection: any Connection
    ) throws {
        // A team that does not exist has no log.
        guard try denial.team.isEmpty || connection.first("SELECT id FROM teams WHERE id = ?", denial.team) != nil
        else { return }
        try Audit.record(
            connection,
            at: time,
            Principal(kind: .server, name: denial.actor),
            team: denial.team,
            "access.denied",
            request,
            details
        )
    }
}
