import Foundation
import ServerDatabase

extension Service {
    /// Throws when the database cannot be read.
    public func checkReadiness() async throws {
        _ = try await database.read { try $0.first("SELECT COUNT(*) AS n FROM schema_version") }
    }

    /// Measurements for the server's operator, by their names in Prometheus.
    public func gauges() async throws -> [String: Double] {
        let time = now().milliseconds
        return try await database.read { connection in
            func number(_ sql: String) throws -> Double {
                Double(try connection.first(sql)?.optionalInteger("n") ?? 0)
            }
            var gauges = [
                "coreml_teams": try number("SELECT COUNT(*) AS n FROM teams"),
                "coreml_archives": try number("SELECT COUNT(*) AS n FROM archives"),
                "coreml_archive_bytes": try number("SELECT SUM(byte_count) AS n FROM archives"),
                "coreml_releases": try number("SELECT COUNT(*) AS n FROM releases"),
                "coreml_audit_entries": try number("SELECT MAX(sequence) AS n FROM audit"),
            ]
            let ends = [
                "coreml_policy_seconds_left": "SELECT MIN(expires) AS n FROM policies",
                "coreml_metadata_seconds_left": "SELECT MIN(expires) AS n FROM trust_metadata WHERE is_current = 1",
            ]
            for (name, sql) in ends {
                // There is no number if nothing expires.
                guard let expires = try connection.first(sql)?.optionalInteger("n") else { continue }
                gauges[name] = Double(expires - time) / 1000
            }
            return gauges
        }
    }
}
