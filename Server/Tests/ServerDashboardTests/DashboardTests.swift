import DeploymentKeys
import DeploymentPolicy
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServerBlobs
import ServerCore
import ServerDashboard
import ServerDatabase
import ServerHTTP
import Testing

/// A server with nothing in it but an administrator, and a browser that is signed in.
struct TestSite {
    let service: ServerCore.Service
    let database: SQLiteDatabase
    let application: Application<RouterResponder<Context>>
    private let folder: String

    init() async throws {
        folder = FileManager.default.temporaryDirectory.path + "/dashboard-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        database = try SQLiteDatabase(path: folder + "/server.sqlite")
        service = try await ServerCore.Service(
            database: database,
            blobs: try FolderBlobStore(folder: folder + "/blobs"),
            keys: try SigningKeyFolder(folder: folder + "/keys"),
            vault: try KeyVault(folder: folder + "/vault", strength: .file)
        )
        let router = makeRouter(service)
        try Dashboard(service).add(to: router)
        application = Application(router: router)
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// Signs the administrator in, as the page does.
    func signIn(_ client: any TestClientProtocol) async throws -> Browser {
        let link = try #require(try await service.firstAdministratorLink())
        let answer = try await client.execute(
            uri: "/sign-in",
            method: .post,
            headers: [.contentType: Browser.formType],
            body: ByteBuffer(string: "secret=\(link)")
        )
        #expect(answer.status == .seeOther)
        let cookie = try #require(answer.headers[.setCookie])
        return try await Browser(client: client, cookie: String(cookie.prefix { $0 != ";" }))
    }

    /// A browser that is signed in with a token that may do no more than look.
    func viewer(_ client: any TestClientProtocol, of team: String, as actor: Principal) async throws -> Browser {
        let (_, text) = try await service.createToken(team: team, app: nil, name: "viewer", roles: [.viewer], as: actor)
        return try await Browser(client: client, cookie: "coreml=\(text)")
    }
}

/// A browser's state: its cookie, and the secret that its pages hold.
struct Browser {
    static let formType = "application/x-www-form-urlencoded"

    let client: any TestClientProtocol
    let cookie: String
    let csrf: String

    init(client: any TestClientProtocol, cookie: String) async throws {
        self.client = client
        self.cookie = cookie
        let page = try await client.execute(uri: "/teams", method: .get, headers: [.cookie: cookie])
        let text = String(buffer: page.body)
        csrf = String(try #require(text.firstMatch(of: /name="csrf" content="([0-9a-f]+)"/)).1)
    }

    func get(_ path: String) async throws -> (status: HTTPResponse.Status, text: String) {
        let answer = try await client.execute(uri: path, method: .get, headers: [.cookie: cookie])
        return (answer.status, String(buffer: answer.body))
    }

    /// Sends a form; `csrf` may be another than the page's.
    @discardableResult
    func send(_ path: String, _ fields: [String: String], csrf other: String? = nil) async throws
        -> (status: HTTPResponse.Status, text: String, location: String?)
    {
        let fields = fields.merging(["csrf": other ?? csrf]) { first, _ in first }
        let body = fields.map { "\(Self.escaped($0.key))=\(Self.escaped($0.value))" }.joined(separator: "&")
        let answer = try await client.execute(
            uri: path,
            method: .post,
            headers: [.cookie: cookie, .contentType: Self.formType],
            body: ByteBuffer(string: body)
        )
        return (answer.status, String(buffer: answer.body), answer.headers[.location])
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

@Suite struct DashboardTests {
    /// Runs a test with a fresh site and the administrator's browser.
    func withSite(_ body: @escaping @Sendable (TestSite, Browser) async throws -> Void) async throws {
        let site = try await TestSite()
        defer { site.remove() }
        try await site.application.test(.router) { client in try await body(site, try await site.signIn(client)) }
    }

    private let administrator = Principal(
        kind: .account(id: "test"),
        name: "admin@localhost",
        roles: ["acme": [.owner]],
        isAdministrator: true
    )

    /// A team, an app and a collection, made with forms.
    private func prepare(_ browser: Browser) async throws {
        #expect(try await browser.send("/teams", ["id": "acme", "name": "Acme"]).location == "/teams/acme?done=team")
        let app = try await browser.send(
            "/teams/acme/apps",
            ["id": "shop", "name": "Shop", "environments": "production\nstaging"]
        )
        #expect(app.location == "/apps/shop?done=app")
        let collection = try await browser.send("/apps/shop/collections", ["id": "Flowers", "models": "Classifier"])
        #expect(collection.location == "/apps/shop/collections/Flowers?done=collection")
    }

    // MARK: Signing in

    @Test func `pages without a session lead to the sign-in page and back`() async throws {
        let site = try await TestSite()
        defer { site.remove() }
        try await site.application.test(.router) { client in
            let answer = try await client.execute(uri: "/teams/acme/audit?text=a", method: .get)
            #expect(answer.status == .seeOther)
            #expect(answer.headers[.location] == "/sign-in?next=%2Fteams%2Facme%2Faudit%3Ftext%3Da")
        }
    }

    @Test func `looking at a sign-in link does not use it up, and using it does`() async throws {
        let site = try await TestSite()
        defer { site.remove() }
        let link = try #require(try await site.service.firstAdministratorLink())
        try await site.application.test(.router) { client in
            for _ in 0..<2 {
                let page = try await client.execute(uri: "/sign-in/\(link)", method: .get)
                #expect(page.status == .ok)
            }
            func signIn() async throws -> HTTPResponse.Status {
                try await client.execute(
                    uri: "/sign-in",
                    method: .post,
                    headers: [.contentType: Browser.formType],
                    body: ByteBuffer(string: "secret=\(link)")
                ).status
            }
            let (first, second) = (try await signIn(), try await signIn())
            #expect(first == .seeOther)
            #expect(second == .unauthorized)
        }
    }

    @Test(arguments: ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/a\r\nb"])
    func `signing in never leads to another server`(next: String) async throws {
        let site = try await TestSite()
        defer { site.remove() }
        let link = try #require(try await site.service.firstAdministratorLink())
        let escaped = next.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        try await site.application.test(.router) { client in
            let answer = try await client.execute(
                uri: "/sign-in",
                method: .post,
                headers: [.contentType: Browser.formType],
                body: ByteBuffer(string: "secret=\(link)&next=\(escaped)")
            )
            #expect(answer.headers[.location] == "/")
        }
    }

    @Test(arguments: [("https://models.example.org", false), (nil, true)])
    func `the cookie is for this server only, and by https for nothing else`(
        _ address: String?,
        _ isSecure: Bool
    ) async throws {
        let site = try await TestSite()
        defer { site.remove() }
        let link = try #require(try await site.service.firstAdministratorLink())
        let router = Router(context: Context.self)
        try Dashboard(site.service, publicAddress: address, isSecure: isSecure).add(to: router)
        try await Application(router: router).test(.router) { client in
            let answer = try await client.execute(
                uri: "/sign-in",
                method: .post,
                headers: [.contentType: Browser.formType],
                body: ByteBuffer(string: "secret=\(link)")
            )
            let cookie = try #require(answer.headers[.setCookie])
            #expect(cookie.hasPrefix("__Host-coreml=mlk_session_"))
            for word in ["HttpOnly", "SameSite=Strict", "Secure", "Path=/"] { #expect(cookie.contains("; \(word)")) }
            #expect(!cookie.contains("Domain"))
        }
    }

    // MARK: Forms

    @Test func `the way from nothing to a collection goes through forms`() async throws {
        try await withSite { _, browser in
            #expect(try await browser.get("/teams").text.contains("No team yet"))
            try await prepare(browser)
            #expect(try await browser.get("/").status == .seeOther)
            for path in [
                "/teams", "/teams/new", "/teams/acme", "/teams/acme/apps/new", "/teams/acme/archives",
                "/teams/acme/keys",
                "/teams/acme/tokens", "/teams/acme/members", "/teams/acme/audit", "/apps/shop",
                "/apps/shop/collections/new",
                "/apps/shop/collections/Flowers", "/apps/shop/collections/Flowers?environment=staging",
                "/apps/shop/collections/Flowers/history?at=2026-11-23T14:00",
                "/apps/shop/collections/Flowers/releases/new",
                "/apps/shop/collections/Flowers/deployments/new", "/apps/shop/configuration",
            ] {
                let page = try await browser.get(path)
                #expect(page.status == .ok, "\(path): \(page.text.prefix(300))")
            }
        }
    }

    @Test func `a form with a mistake comes back with what was written and what is wrong`() async throws {
        try await withSite { _, browser in
            let answer = try await browser.send("/teams", ["id": "Not a name", "name": "Kept as it is"])
            #expect(answer.status == .badRequest)
            #expect(answer.text.contains("Kept as it is"))
            #expect(answer.text.contains("aria-invalid=\"true\""))
            #expect(answer.text.contains("letters a–z"))
        }
    }

    @Test func `every form is refused without the session's secret, with another, and from another site`() async throws
    {
        try await withSite { site, browser in
            try await prepare(browser)
            let forms = [
                "/teams", "/teams/acme/apps", "/apps/shop/collections", "/apps/shop/collections/Flowers/releases",
                "/apps/shop/collections/Flowers/deployments", "/deployments/any/activate", "/teams/acme/tokens",
                "/teams/acme/tokens/any/revoke", "/sign-out",
            ]
            for path in forms {
                for wrong in ["", String(browser.csrf.dropLast()) + "x", browser.csrf.uppercased() + "0"] {
                    #expect(try await browser.send(path, ["id": "made"], csrf: wrong).status == .forbidden, "\(path)")
                }
            }
            for (name, value) in [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")] {
                let answer = try await browser.client.execute(
                    uri: "/teams",
                    method: .post,
                    headers: [
                        .cookie: browser.cookie, .contentType: Browser.formType,
                        try #require(HTTPField.Name(name)): value,
                    ],
                    body: ByteBuffer(string: "csrf=\(browser.csrf)&id=made")
                )
                #expect(answer.status == .forbidden)
            }
            for path in ["/teams/acme/archives", "/apps/shop/collections/Flowers/preview"] {
                let answer = try await browser.client.execute(
                    uri: path,
                    method: .post,
                    headers: [.cookie: browser.cookie],
                    body: ByteBuffer(string: "{}")
                )
                #expect(answer.status == .forbidden, "\(path)")
            }
            #expect(try await site.service.teams(of: administrator).map(\.id) == ["acme"])
        }
    }

    // MARK: Hostile texts

    private static let hostile = "<script>alert('1')</script>\"'><img src=x onerror=alert(1)>{{csrf}}"

    @Test func `hostile texts in every field stay texts on every page`() async throws {
        try await withSite { site, browser in
            try await browser.send("/teams", ["id": "acme", "name": Self.hostile])
            try await browser.send(
                "/teams/acme/apps",
                ["id": "shop", "name": Self.hostile, "environments": "production"]
            )
            try await browser.send(
                "/apps/shop/collections",
                ["id": "Flowers", "models": "Classifier", "description": Self.hostile]
            )
            try await browser.send("/teams/acme/tokens", ["name": Self.hostile, "roles": "viewer", "days": "7"])
            let definition = """
                {"rules":[{"id":"r","note":\(Self.json),"when":{"attribute":"channel","operator":"is","values":[\(Self.json)]},\
                "serve":"bundled"}],"default":"keep"}
                """
            let made = try await browser.send(
                "/apps/shop/collections/Flowers/deployments",
                ["name": Self.hostile, "definition": definition]
            )
            let deployment = try #require(made.location?.split(separator: "?").first.map(String.init))
            var pages = [
                "/teams", "/teams/acme", "/apps/shop", "/apps/shop/collections/Flowers", "/teams/acme/tokens",
                "/teams/acme/audit", "/teams/acme/members", deployment, deployment + "/activate",
                "/apps/shop/collections/Flowers/deployments/new?clone=\(deployment.split(separator: "/").last ?? "")",
            ]
            let escaped = Self.hostile.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            pages += [
                "/teams/acme/audit?actor=\(escaped)&text=\(escaped)", "/sign-in?next=\(escaped)", "/sign-in/\(escaped)",
                "/apps/shop/collections/Flowers/history?at=\(escaped)", "/apps/\(escaped)",
                "/apps/shop/collections/Flowers?environment=\(escaped)",
            ]
            var seen = 0
            for path in pages {
                let text = try await browser.get(path).text
                #expect(!text.contains("<script>"), "\(path)")
                #expect(!text.contains("<img src=x"), "\(path)")
                seen += text.contains("&lt;script&gt;") ? 1 : 0
            }
            #expect(seen >= 12)
            for (path, fields) in [
                ("/teams", ["id": Self.hostile, "name": Self.hostile]),
                ("/teams/acme/apps", ["id": Self.hostile, "name": Self.hostile, "environments": Self.hostile]),
                ("/apps/shop/collections", ["id": Self.hostile, "models": Self.hostile, "description": Self.hostile]),
                ("/apps/shop/collections/Flowers/releases", ["metrics": Self.hostile, "note": Self.hostile]),
                ("/apps/shop/collections/Flowers/deployments", ["name": Self.hostile, "definition": Self.hostile]),
                ("/teams/acme/tokens", ["name": Self.hostile, "roles": Self.hostile]),
            ] {
                let answer = try await browser.send(path, fields)
                #expect(answer.status == .badRequest, "\(path)")
                #expect(!answer.text.contains("<script>") && !answer.text.contains("<img src=x"), "\(path)")
            }
        }
    }

    private static var json: String {
        guard let data = try? JSONEncoder().encode(hostile) else { return "" }
        return String(decoding: data, as: UTF8.self)
    }

    @Test func `exported audit logs are no formulas`() async throws {
        try await withSite { _, browser in
            try await browser.send("/teams", ["id": "acme", "name": "=cmd|'/c calc'!A0"])
            let (status, text) = try await browser.get("/teams/acme/audit/export.csv")
            #expect(status == .ok)
            #expect(text.hasPrefix("sequence,at,actor,action,subject,detail,hash\r\n"))
            #expect(!text.split(separator: ",").contains { $0.hasPrefix("=") || $0.hasPrefix("\"=") })
            let entries = try JSONSerialization.jsonObject(
                with: Data(try await browser.get("/teams/acme/audit/export.json").text.utf8)
            )
            #expect((entries as? [Any])?.isEmpty == false)
        }
    }

    // MARK: Permissions

    @Test func `a viewer sees no buttons, and forms refuse them`() async throws {
        try await withSite { site, browser in
            try await prepare(browser)
            let made = try await browser.send(
                "/apps/shop/collections/Flowers/deployments",
                ["name": "Plain", "definition": #"{"rules":[],"default":"bundled"}"#]
            )
            let deployment = try #require(made.location?.split(separator: "?").first.map(String.init))
            let viewer = try await site.viewer(browser.client, of: "acme", as: administrator)
            for path in [
                "/teams/acme", "/apps/shop", "/apps/shop/collections/Flowers", "/teams/acme/archives", deployment,
            ] {
                let (status, text) = try await viewer.get(path)
                #expect(status == .ok, "\(path)")
                for word in [
                    "New app", "New collection", "New release", "New deployment", "Activate", "Clone", "Choose files",
                ] {
                    #expect(!text.contains(word), "\(path) has \(word)")
                }
            }
            for path in [
                "/teams/acme/audit", "/teams/acme/tokens", "/apps/shop/collections/Flowers/deployments/new",
                deployment + "/activate",
            ] {
                #expect(try await viewer.get(path).status == .forbidden, "\(path)")
            }
            for (path, fields) in [
                ("/teams", ["id": "other"]), ("/teams/acme/apps", ["id": "other", "environments": "production"]),
                ("/apps/shop/collections", ["id": "Other", "models": "A"]), (deployment + "/activate", [:]),
                ("/apps/shop/collections/Flowers/releases", [:]),
                ("/teams/acme/tokens", ["name": "a", "roles": "viewer", "days": "7"]),
                ("/apps/shop/collections/Flowers/deployments", ["definition": #"{"rules":[],"default":"keep"}"#]),
            ] {
                #expect(try await viewer.send(path, fields).status == .forbidden, "\(path)")
            }
        }
    }

    @Test func `other teams do not exist for somebody who does not belong to them`() async throws {
        try await withSite { site, browser in
            try await prepare(browser)
            try await browser.send("/teams", ["id": "rival", "name": "Rival"])
            let owner = Principal(kind: .account(id: "x"), name: "x", roles: ["rival": [.owner]])
            let rival = try await site.viewer(browser.client, of: "rival", as: owner)
            for path in [
                "/teams/acme", "/teams/acme/archives", "/teams/acme/keys", "/teams/acme/members", "/teams/acme/audit",
                "/teams/acme/tokens", "/apps/shop", "/apps/shop/collections/Flowers", "/apps/shop/configuration",
                "/apps/shop/collections/Flowers/history", "/apps/shop/collections/Flowers/events", "/teams/nothing",
            ] {
                let (status, text) = try await rival.get(path)
                #expect(status == .notFound, "\(path)")
                #expect(!text.contains("Acme"))
            }
        }
    }

    // MARK: Preview

    @Test func `the preview says who would get what, and why not the others`() async throws {
        try await withSite { _, browser in
            try await prepare(browser)
            let question = """
                {"definition":{"rules":[{"id":"tablets","when":{"attribute":"deviceClass","operator":"is","values":["tablet"]},\
                "serve":"bundled"}],"default":"keep"},"device":{"deviceClass":"phone"}}
                """
            func ask(_ body: String) async throws -> String {
                let answer = try await browser.client.execute(
                    uri: "/apps/shop/collections/Flowers/preview",
                    method: .post,
                    headers: [.cookie: browser.cookie, try #require(HTTPField.Name("X-CSRF-Token")): browser.csrf],
                    body: ByteBuffer(string: body)
                )
                #expect(answer.status == .ok)
                return String(buffer: answer.body)
            }
            let phone = try await ask(question)
            #expect(phone.contains("Current models of the device") && phone.contains("because no rule matched"))
            #expect(phone.contains("device class is tablet – it has phone"))
            let tablet = try await ask(question.replacing("\"phone\"", with: "\"tablet\""))
            #expect(tablet.contains("Models of the app") && tablet.contains("by rule 1"))
            #expect(try await ask(question.replacing("\"keep\"", with: "7")).contains("no release 7"))
            #expect(try await ask(question.replacing("\"phone\"", with: "\"toaster\"")).contains("toaster"))
            #expect(try await ask(question.replacing("tablet", with: "<b>")).contains("&lt;b&gt;"))
        }
    }

    @Test func `a gradual rollout shows its step and what the next gate waits for`() async throws {
        try await withSite { site, browser in
            try await prepare(browser)
            let made = try await browser.send(
                "/apps/shop/collections/Flowers/deployments",
                ["name": "Slowly", "definition": #"{"rules":[],"default":"bundled"}"#]
            )
            let page = try #require(made.location?.split(separator: "?").first.map(String.init))
            #expect(try await browser.get(page).text.contains("Next gate") == false)
            let steps = [1000, 25_000, 100_000].map { share in
                RolloutPlan.Step(share: share, gate: .init(minimumSeconds: 0, minimumExposed: 500, isManual: true))
            }
            let now = PolicyDate(secondsSince1970: Int(Date().timeIntervalSince1970))
            var plan = RolloutPlan(release: 2, rest: .release(1), salt: "slowly", steps: steps)
            plan.needsSecondPerson = false
            var rollout = try Rollout(plan, author: "admin@localhost", at: now)
            let owner = Rollout.Actor("admin@localhost", [.owner])
            try rollout.perform(.approve, by: owner, at: now)
            try rollout.perform(.start, by: owner, at: now)
            rollout.record(.init(exposed: 120, new: .init(reports: 100, failures: 1)))
            let text = String(decoding: rollout.bytes(), as: UTF8.self)
            try await site.database.write { connection in
                _ = try connection.execute("UPDATE deployments SET rollout = ?", text)
            }
            let shown = try await browser.get(page).text
            #expect(shown.contains("Step 1 of 3") && shown.contains("Next gate"))
            #expect(shown.contains("It waits for 500 devices; 120 run it."))
            #expect(shown.contains("Someone must approve it."))
            #expect(shown.contains("120 devices run it; 1 of 100 reports at this step are failures."))
        }
    }

    @Test func `keys are made, given out and revoked with forms`() async throws {
        try await withSite { site, browser in
            try await prepare(browser)
            let before = try await site.service.keys(of: "acme", as: administrator).count
            #expect(try await browser.send("/teams/acme/keys", [:]).location == "/teams/acme/keys?done=key")
            let key = try #require(
                try await site.service.keys(of: "acme", as: administrator).first { $0.state == "active" }
            )
            #expect(try await site.service.keys(of: "acme", as: administrator).count == before + 1)
            let file = try await browser.get("/teams/acme/keys/current/file")
            #expect(file.status == .ok && file.text.contains(key.id))
            let viewer = try await site.viewer(browser.client, of: "acme", as: administrator)
            #expect(try await viewer.get("/teams/acme/keys/\(key.id)/revoke").status == .forbidden)
            #expect(try await viewer.send("/teams/acme/keys/\(key.id)/revoke", [:]).status == .forbidden)
            #expect(try await viewer.send("/teams/acme/keys", [:]).status == .forbidden)
            #expect(try await viewer.get("/teams/acme/keys").text.contains("Revoke") == false)
            #expect(try await browser.get("/teams/acme/keys/\(key.id)/revoke").text.contains("cannot be undone"))
            let wrong = try await browser.send("/teams/acme/keys/\(key.id)/revoke", [:], csrf: "0")
            #expect(wrong.status == .forbidden)
            try await browser.send("/teams/acme/keys/\(key.id)/revoke", [:])
            let after = try await site.service.keys(of: "acme", as: administrator).first { $0.id == key.id }
            #expect(after?.state == "revoked")
        }
    }

    // MARK: Answers

    @Test func `pages allow no script or style but the server's own files`() async throws {
        try await withSite { _, browser in
            let answer = try await browser.client.execute(
                uri: "/teams",
                method: .get,
                headers: [.cookie: browser.cookie]
            )
            let policy = try #require(answer.headers[.contentSecurityPolicy])
            #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
            #expect(answer.headers[.cacheControl] == "no-store")
            let text = String(buffer: answer.body)
            #expect(text.firstMatch(of: /<script(?![^>]*src=)|<style|\sstyle=|\son[a-z]+=/) == nil)
            let script = try #require(text.firstMatch(of: /src="(\/files\/[^"]+\.js)"/)).1
            let file = try await browser.client.execute(uri: String(script), method: .get)
            #expect(file.status == .ok && file.body.readableBytes <= 40_000)
        }
    }
}

extension DashboardTests {
    @Test func `members are invited, changed and removed with forms`() async throws {
        try await withSite { site, browser in
            try await browser.send("/teams", ["id": "acme", "name": "Acme"])
            let empty = try await browser.get("/teams/acme/members")
            #expect(empty.text.contains("admin@localhost") && empty.text.contains("Make the invitation"))
            let fields = ["email": "kim@example.org", "name": "Kim <b>", "roles": "viewer"]
            let invited = try await browser.send("/teams/acme/members", fields)
            let secret = try #require(invited.text.firstMatch(of: #/sign-in/([0-9a-f]{64})/#)).1
            #expect(try await browser.send("/teams/acme/members", ["email": "nobody"]).status == .badRequest)
            #expect(try await browser.send("/teams/acme/members", fields, csrf: "0").status == .forbidden)
            _ = try await site.service.signIn(link: String(secret))
            let page = try await browser.get("/teams/acme/members")
            #expect(page.text.contains("kim@example.org") && !page.text.contains("Kim <b>"))
            let team = try await site.service.members(of: "acme", as: .server)
            let kim = try #require(team.first { $0.email == "kim@example.org" })
            let path = "/teams/acme/members/\(kim.id)"
            #expect(try await browser.send(path, ["roles": "publisher"]).location == "/teams/acme/members?done=roles")
            #expect(try await browser.send(path + "/link", [:]).text.contains("/sign-in/"))
            let own = try #require(team.first { $0.email == "admin@localhost" })
            let leaving = try await browser.send("/teams/acme/members/\(own.id)/remove", [:])
            #expect(leaving.status == .conflict && leaving.text.contains("always needs an owner"))
            #expect(try await browser.send(path + "/remove", [:]).location == "/teams/acme/members?done=removed")
        }
    }
}
