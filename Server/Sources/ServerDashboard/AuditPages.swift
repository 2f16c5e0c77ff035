import Foundation
import Hummingbird
import ServerCore

extension Dashboard {
    struct AuditRow {
        struct Detail {
            let name: String
            let value: String
            let short: String
        }

        let sequence: Int
        let at: Moment
        let exact: String
        let actor: String
        let action: String
        let kind: String
        let subject: String
        let shortSubject: String
        let details: [Detail]
        let hash: String
    }

    func filter(_ visit: Visit) throws -> AuditFilter {
        func day(_ name: String) throws -> Date? {
            try visit.query(name).map { text in
                guard let date = Self.date(text) else {
                    throw ServiceError(.invalid, "\"\(text)\" is not a day such as 2026-11-23.", field: name)
                }
                return date
            }
        }
        var filter = AuditFilter()
        filter.actor = visit.query("actor")
        filter.action = visit.query("action")
        filter.text = visit.query("text")
        filter.from = try day("from")
        filter.until = try day("until")?.addingTimeInterval(86_400)
        return filter
    }

    func auditPage(_ visit: Visit) async throws -> Response {
        struct Action {
            let value: String
            let label: String
            let isChosen: Bool
        }
        struct Content {
            let team: String
            let rows: [AuditRow]
            let isEmpty: Bool
            let isFiltered: Bool
            let actor: String
            let text: String
            let from: String
            let until: String
            let actions: [Action]
            let query: String
            let next: String?
            let commands: Commands
        }
        let team = try visit.name("team")
        let before = visit.query("before").flatMap { Int($0) }
        let entries = try await service.audit(
            of: team,
            matching: try filter(visit),
            before: before,
            limit: Self.pageLength + 1,
            as: visit.actor
        )
        let names = ["actor", "action", "text", "from", "until"]
        let query = names.compactMap { name in
            visit.query(name).map { "\(name)=\(Self.queryEscaped($0))" }
        }.joined(separator: "&")
        let kinds = [
            ("", "Everything"), ("deployment", "Deployments"), ("release", "Releases"), ("archive", "Archives"),
            ("collection", "Collections"), ("app", "Apps"), ("token", "Tokens"), ("team", "Teams"), ("key", "Keys"),
        ]
        let displayed = entries.prefix(Self.pageLength)
        let content = Content(
            team: team,
            rows: displayed.map(Self.row),
            isEmpty: entries.isEmpty,
            isFiltered: !query.isEmpty,
            actor: visit.query("actor") ?? "",
            text: visit.query("text") ?? "",
            from: visit.query("from") ?? "",
            until: visit.query("until") ?? "",
            actions: kinds.map {
                Action(value: $0.0, label: $0.1, isChosen: $0.0 == visit.query("action") ?? "")
            },
            query: query,
            next: entries.count > Self.pageLength
                ? (displayed.last.map { "before=\($0.sequence)" + (query.isEmpty ? "" : "&" + query) }) : nil,
            commands: Commands("audit --team \(team)", "GET", "teams/\(team)/audit?limit=100", address: visit.address)
        )
        return try await page("audit", content, title: "Audit log", team: team, section: .audit, visit)
    }

    static let pageLength = 50

    /// The first digits of a hash; any other text unchanged.
    static func shortened(_ text: String) -> String {
        text.utf8.count == 64 && text.allSatisfy(\.isHexDigit) ? Texts.short(text) + "…" : text
    }

    static func row(_ entry: AuditEntry) -> AuditRow {
        AuditRow(
            sequence: entry.sequence,
            at: Moment(entry.at),
            exact: Texts.moment(entry.at),
            actor: entry.actor,
            action: entry.action,
            kind: String(entry.action.prefix { $0 != "." }),
            subject: entry.subject,
            shortSubject: shortened(entry.subject),
            details: entry.detail.sorted { $0.key < $1.key }.filter { !$0.value.isEmpty }.map {
                .init(name: $0.key, value: $0.value, short: shortened($0.value))
            },
            hash: Texts.short(entry.hash)
        )
    }

    func auditExport(_ visit: Visit, isJSON: Bool) async throws -> Response {
        let team = try visit.name("team")
        let entries = try await service.audit(of: team, matching: try filter(visit), limit: 100_000, as: visit.actor)
        if isJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
            encoder.dateEncodingStrategy = .iso8601
            return download([UInt8](try encoder.encode(entries)), name: "audit-\(team).json", type: "application/json")
        }
        var lines = ["sequence,at,actor,action,subject,detail,hash"]
        for entry in entries {
            let fields = [
                String(entry.sequence), Texts.exact(entry.at), entry.actor, entry.action, entry.subject,
                try PageJSON.text(entry.detail), entry.hash,
            ]
            lines.append(fields.map(Self.csv).joined(separator: ","))
        }
        return download(
            Array((lines.joined(separator: "\r\n") + "\r\n").utf8),
            name: "audit-\(team).csv",
            type: "text/csv; charset=utf-8"
        )
    }

    /// A field of CSV (RFC 4180), escaped so that spreadsheets do not interpret it as a formula.
    static func csv(_ text: String) -> String {
        let guarded = "=+-@\t\r".contains(text.prefix(1)) && !text.isEmpty ? "'" + text : text
        return "\"" + guarded.replacing("\"", with: "\"\"") + "\""
    }
}
