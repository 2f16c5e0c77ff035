public import ServerDatabase

/// The tables of the server, version by version; a released version never changes.
public let migrations: [Migration] = [
    Migration(
        version: 1,
        """
        CREATE TABLE teams (
            id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, created BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE accounts (
            id TEXT NOT NULL PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, password TEXT,
            is_administrator BIGINT NOT NULL, created BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE memberships (
            team TEXT NOT NULL REFERENCES teams (id), account TEXT NOT NULL REFERENCES accounts (id),
            roles TEXT NOT NULL, PRIMARY KEY (team, account)
        )
        """,
        """
        CREATE TABLE sessions (
            secret_hash BYTES NOT NULL PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id),
            csrf TEXT NOT NULL, created BIGINT NOT NULL, seen BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE sign_in_links (
            secret_hash BYTES NOT NULL PRIMARY KEY, account TEXT NOT NULL REFERENCES accounts (id),
            expires BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE tokens (
            id TEXT NOT NULL PRIMARY KEY, team TEXT NOT NULL REFERENCES teams (id), app TEXT, name TEXT NOT NULL,
            roles TEXT NOT NULL, secret_hash BYTES NOT NULL, networks TEXT NOT NULL, created BIGINT NOT NULL,
            created_by TEXT NOT NULL, expires BIGINT NOT NULL, last_used BIGINT, revoked BIGINT
        )
        """,
        """
        CREATE TABLE apps (
            id TEXT NOT NULL PRIMARY KEY, team TEXT NOT NULL REFERENCES teams (id), name TEXT NOT NULL,
            environments TEXT NOT NULL, created BIGINT NOT NULL
        )
        """,
        "CREATE INDEX apps_of_team ON apps (team)",
        """
        CREATE TABLE collections (
            app TEXT NOT NULL REFERENCES apps (id), id TEXT NOT NULL, description TEXT NOT NULL, models TEXT NOT NULL,
            releases BIGINT NOT NULL, created BIGINT NOT NULL, PRIMARY KEY (app, id)
        )
        """,
        """
        CREATE TABLE archives (
            team TEXT NOT NULL REFERENCES teams (id), sha256 TEXT NOT NULL, byte_count BIGINT NOT NULL,
            file_name TEXT NOT NULL, name TEXT NOT NULL, summary TEXT NOT NULL, content_id TEXT, created BIGINT NOT NULL,
            created_by TEXT NOT NULL, PRIMARY KEY (team, sha256)
        )
        """,
        "CREATE INDEX archives_of_content ON archives (team, content_id)",
        """
        CREATE TABLE vectors (
            team TEXT NOT NULL REFERENCES teams (id), sha256 TEXT NOT NULL, byte_count BIGINT NOT NULL,
            file_name TEXT NOT NULL, created BIGINT NOT NULL, created_by TEXT NOT NULL, PRIMARY KEY (team, sha256)
        )
        """,
        """
        CREATE TABLE releases (
            app TEXT NOT NULL, collection TEXT NOT NULL, number BIGINT NOT NULL, document BYTES NOT NULL,
            sha256 TEXT NOT NULL, note TEXT NOT NULL, created BIGINT NOT NULL, created_by TEXT NOT NULL,
            PRIMARY KEY (app, collection, number), FOREIGN KEY (app, collection) REFERENCES collections (app, id)
        )
        """,
        """
        CREATE TABLE deployments (
            id TEXT NOT NULL PRIMARY KEY, app TEXT NOT NULL, collection TEXT NOT NULL, environment TEXT NOT NULL,
            name TEXT NOT NULL, state TEXT NOT NULL, definition TEXT NOT NULL, rollout TEXT NOT NULL,
            created BIGINT NOT NULL, created_by TEXT NOT NULL, changed BIGINT NOT NULL,
            FOREIGN KEY (app, collection) REFERENCES collections (app, id)
        )
        """,
        "CREATE INDEX deployments_of_collection ON deployments (app, collection, environment, created)",
        """
        CREATE TABLE policies (
            app TEXT NOT NULL, collection TEXT NOT NULL, environment TEXT NOT NULL, version BIGINT NOT NULL,
            deployment TEXT NOT NULL, signed BYTES NOT NULL, issued BIGINT NOT NULL, expires BIGINT NOT NULL,
            PRIMARY KEY (app, collection, environment)
        )
        """,
        """
        CREATE TABLE live (
            app TEXT NOT NULL, collection TEXT NOT NULL, environment TEXT NOT NULL, since BIGINT NOT NULL,
            version BIGINT NOT NULL, deployment TEXT NOT NULL, summary TEXT NOT NULL,
            PRIMARY KEY (app, collection, environment, version)
        )
        """,
        """
        CREATE TABLE trust_metadata (
            team TEXT NOT NULL REFERENCES teams (id), name TEXT NOT NULL, version BIGINT NOT NULL, is_current BIGINT NOT NULL,
            signed BYTES NOT NULL, expires BIGINT NOT NULL, PRIMARY KEY (team, name, version)
        )
        """,
        """
        CREATE TABLE release_archives (
            app TEXT NOT NULL, collection TEXT NOT NULL, number BIGINT NOT NULL, sha256 TEXT NOT NULL,
            PRIMARY KEY (app, collection, number, sha256),
            FOREIGN KEY (app, collection, number) REFERENCES releases (app, collection, number)
        )
        """,
        "CREATE INDEX releases_of_archive ON release_archives (sha256)",
        """
        CREATE TABLE key_rings (
            team TEXT NOT NULL PRIMARY KEY REFERENCES teams (id), sealed BYTES NOT NULL, version BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE devices (
            team TEXT NOT NULL REFERENCES teams (id), device TEXT NOT NULL, app TEXT NOT NULL, status TEXT NOT NULL,
            record BYTES NOT NULL, enrolled BIGINT NOT NULL, PRIMARY KEY (team, device)
        )
        """,
        "CREATE INDEX devices_of_app ON devices (app)",
        """
        CREATE TABLE key_holders (
            team TEXT NOT NULL REFERENCES teams (id), key_id TEXT NOT NULL, content TEXT NOT NULL, device TEXT NOT NULL,
            PRIMARY KEY (team, key_id, content, device)
        )
        """,
        """
        CREATE TABLE leases (
            serial TEXT NOT NULL PRIMARY KEY, team TEXT NOT NULL REFERENCES teams (id), app TEXT NOT NULL,
            device TEXT NOT NULL, key_id TEXT NOT NULL, content TEXT NOT NULL, not_before BIGINT NOT NULL, not_after BIGINT
        )
        """,
        "CREATE INDEX leases_of_team ON leases (team, not_before)",
        """
        CREATE TABLE enrolment_tokens (
            team TEXT NOT NULL REFERENCES teams (id), id TEXT NOT NULL, app TEXT, algorithm TEXT NOT NULL,
            public_key BYTES NOT NULL, not_after BIGINT NOT NULL, remaining BIGINT, created BIGINT NOT NULL,
            created_by TEXT NOT NULL, PRIMARY KEY (team, id)
        )
        """,
        """
        CREATE TABLE revocations (
            team TEXT NOT NULL PRIMARY KEY REFERENCES teams (id), version BIGINT NOT NULL, changed BIGINT NOT NULL,
            devices TEXT NOT NULL, keys TEXT NOT NULL, leases TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE audit (
            sequence BIGINT NOT NULL PRIMARY KEY, at BIGINT NOT NULL, team TEXT NOT NULL, actor TEXT NOT NULL,
            action TEXT NOT NULL, subject TEXT NOT NULL, detail TEXT NOT NULL, previous BYTES NOT NULL, hash BYTES NOT NULL
        )
        """,
        "CREATE INDEX audit_of_team ON audit (team, sequence)",
        """
        CREATE TABLE report_counts (
            app TEXT NOT NULL, collection TEXT NOT NULL, environment TEXT NOT NULL, hour BIGINT NOT NULL,
            release_number BIGINT NOT NULL, event TEXT NOT NULL, reason TEXT NOT NULL, operating_system TEXT NOT NULL,
            device_class TEXT NOT NULL, count BIGINT NOT NULL,
            PRIMARY KEY (app, collection, environment, hour, release_number, event, reason, operating_system, device_class)
        )
        """,
        """
        CREATE TABLE report_devices (
            app TEXT NOT NULL, collection TEXT NOT NULL, environment TEXT NOT NULL, hour BIGINT NOT NULL,
            release_number BIGINT NOT NULL, registers BYTES NOT NULL,
            PRIMARY KEY (app, collection, environment, hour, release_number)
        )
        """
    ),
    Migration(
        version: 2,
        "CREATE TABLE report_ids (id TEXT NOT NULL PRIMARY KEY, hour BIGINT NOT NULL)",
        "CREATE INDEX report_ids_of_hour ON report_ids (hour)",
        "ALTER TABLE apps ADD COLUMN approvals TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE deployments ADD COLUMN activated BIGINT",
        "ALTER TABLE deployments ADD COLUMN seen TEXT NOT NULL DEFAULT '{}'",
        """
        CREATE TABLE webhooks (
            id TEXT NOT NULL PRIMARY KEY, team TEXT NOT NULL REFERENCES teams (id), url TEXT NOT NULL, secret TEXT NOT NULL,
            actions TEXT NOT NULL, created BIGINT NOT NULL, created_by TEXT NOT NULL, last_status TEXT NOT NULL
        )
        """,
        "CREATE INDEX webhooks_of_team ON webhooks (team)",
        """
        CREATE TABLE webhook_deliveries (
            id TEXT NOT NULL PRIMARY KEY, webhook TEXT NOT NULL REFERENCES webhooks (id), body TEXT NOT NULL,
            attempts BIGINT NOT NULL, due BIGINT NOT NULL, created BIGINT NOT NULL
        )
        """,
        "CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due)"
    ),
    Migration(
        version: 3,
        """
        CREATE TABLE invitations (
            id TEXT NOT NULL PRIMARY KEY, secret_hash BYTES NOT NULL UNIQUE, team TEXT NOT NULL REFERENCES teams (id),
            email TEXT NOT NULL, name TEXT NOT NULL, roles TEXT NOT NULL, created BIGINT NOT NULL,
            created_by TEXT NOT NULL, expires BIGINT NOT NULL
        )
        """,
        "CREATE INDEX invitations_of_team ON invitations (team, email)",
        """
        CREATE TABLE enrolment_conditions (
            app TEXT NOT NULL PRIMARY KEY REFERENCES apps (id), requires_token BIGINT NOT NULL, device_limit BIGINT
        )
        """,
        """
        CREATE TABLE workload_trusts (
            id TEXT NOT NULL PRIMARY KEY, team TEXT NOT NULL REFERENCES teams (id), app TEXT, name TEXT NOT NULL,
            issuer TEXT NOT NULL, audience TEXT NOT NULL, subject TEXT NOT NULL, roles TEXT NOT NULL,
            created BIGINT NOT NULL, created_by TEXT NOT NULL
        )
        """,
        "CREATE INDEX workload_trusts_of_issuer ON workload_trusts (issuer)"
    ),
    Migration(
        version: 4,
        // The role of the server that uses the database: `all`, `control` or `keys`.
        "CREATE TABLE server_role (id BIGINT NOT NULL PRIMARY KEY, role TEXT NOT NULL)",
        // The content keys that devices of apps may have, as a separate key service was told.
        """
        CREATE TABLE key_grants (
            team TEXT NOT NULL REFERENCES teams (id), app TEXT NOT NULL, content TEXT NOT NULL, granted BIGINT NOT NULL,
            PRIMARY KEY (team, app, content)
        )
        """,
        """
        CREATE TABLE second_factors (
            account TEXT NOT NULL PRIMARY KEY REFERENCES accounts (id), secret BYTES NOT NULL, confirmed BIGINT,
            last_step BIGINT NOT NULL, recovery TEXT NOT NULL
        )
        """,
        """
        CREATE TABLE sign_in_failures (
            subject TEXT NOT NULL PRIMARY KEY, count BIGINT NOT NULL, last BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE sign_in_states (
            state_hash BYTES NOT NULL PRIMARY KEY, issuer TEXT NOT NULL, nonce TEXT NOT NULL, verifier TEXT NOT NULL,
            next TEXT NOT NULL, expires BIGINT NOT NULL
        )
        """,
        """
        CREATE TABLE identities (
            issuer TEXT NOT NULL, subject TEXT NOT NULL, account TEXT NOT NULL REFERENCES accounts (id),
            created BIGINT NOT NULL, PRIMARY KEY (issuer, subject)
        )
        """,
        "CREATE INDEX identities_of_account ON identities (account)",
        // A key that is to sign for the key service once the team's metadata names it.
        "CREATE TABLE pending_service_keys (team TEXT NOT NULL PRIMARY KEY REFERENCES teams (id), key_id TEXT NOT NULL)"
    ),
]
