INSERT INTO teams (id, name, created) VALUES ('acme', 'Acme', 1790000000000);
INSERT INTO accounts (id, email, name, password, is_administrator, created) VALUES ('a1', 'admin@localhost', 'Administrator', NULL, 1, 1790000000000);
INSERT INTO memberships (team, account, roles) VALUES ('acme', 'a1', '["owner"]');
INSERT INTO apps (id, team, name, environments, created) VALUES ('shop', 'acme', 'Shop', '["production","staging"]', 1790000000001);
INSERT INTO collections (app, id, description, models, releases, created) VALUES ('shop', 'Flowers', 'what they are; and more', '["Classifier","Effects"]', 0, 1790000000002);
INSERT INTO tokens (id, team, app, name, roles, secret_hash, networks, created, created_by, expires, last_used, revoked) VALUES ('t1', 'acme', NULL, 'ci', '["publisher"]', '', '[]', 1790000000003, 'admin@localhost', 1890000000000, NULL, NULL);
INSERT INTO report_counts (app, collection, environment, hour, release_number, event, reason, operating_system, device_class, count) VALUES ('shop', 'Flowers', 'production', 497222, 1, 'loaded', '', 'Linux', 'phone', 42);
