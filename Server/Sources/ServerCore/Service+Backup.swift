import ServerDatabase

extension Service {
    /// Makes devices accept a restored server's documents, even if they saw later versions before it was lost.
    ///
    /// Devices refuse versions that are lower than those they know. Everything with a version is signed again with one
    /// that is `versions` higher than in the backup: timestamps, snapshots, metadata of collections, policies, lists of
    /// revocations. Roots stay: the holders of the root keys must restore one that was rotated after the backup.
    public func advanceVersions(by versions: Int) async throws {
        precondition(versions > 0)
        let (keys, time) = (keys, now())
        if role == .keys { return try await advanceRevocations(by: versions) }
        if role == .control {
            let _: KeyLinkDone = try await askKeyService(.advanceRevocations(versions: versions), as: .server)
        }
        let teams = try await database.read { try $0.query("SELECT id FROM teams").map { try $0.text("id") } }
        for team in teams {
            try await database.write { connection in
                var trust = try TeamTrust(team: team, connection, keys: keys, at: time)
                try trust.advance(by: versions)
                try trust.store(connection)
                try connection.execute("UPDATE revocations SET version = version + ? WHERE team = ?", versions, team)
                try Audit.record(
                    connection,
                    at: time,
                    .server,
                    team: team,
                    "server.restore",
                    team,
                    ["by": String(versions)]
                )
            }
        }
        try await database.write { connection in
            _ = try connection.execute("UPDATE policies SET version = version + ?, expires = 0", versions)
        }
        try await renewPolicies(margin: 0)
    }

    /// Makes devices accept the lists of revocations of a restored key service.
    func advanceRevocations(by versions: Int) async throws {
        let time = now()
        try await database.write { connection in
            try connection.execute("UPDATE revocations SET version = version + ?", versions)
            try Audit.record(connection, at: time, .server, team: "", "server.restore", "", ["by": String(versions)])
        }
    }
}
