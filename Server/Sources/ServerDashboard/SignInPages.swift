import Hummingbird
import ServerCore

extension Dashboard {
    func addSignIn<Context: RequestContext>(to pages: Pages<Context>) {
        pages.open("files/:version/:name") { _, parameters in try file(try parameters.require("name")) }
        pages.open("sign-in") { request, _ in
            signInPage(next: request.uri.queryParameters["next"].map(String.init), error: nil)
        }
        pages.openForm("sign-in") { request, _, form in try await signIn(form, request) }
        pages.open("sign-in/:secret") { _, parameters in
            // Looking at a link does not use it up: mail programs look at links, too.
            page("sign-in-link", ["secret": try parameters.require("secret")], title: "Sign in")
        }
        pages.form("sign-out") { visit, _ in
            if visit.visitor.secret.hasPrefix("mlk_session_") { try await service.signOut(visit.visitor.secret) }
            return redirect("/sign-in", cookie: cookie.clearing)
        }
    }

    private func signInPage(next: String?, error: String?) -> Response {
        struct Content {
            let next: String?
            let error: String?
        }
        return page(
            "sign-in",
            Content(next: next, error: error),
            title: "Sign in",
            status: error == nil ? .ok : .unauthorized
        )
    }

    private func signIn(_ form: Form, _ request: Request) async throws -> Response {
        // A link as the server prints it, its last part, or a token.
        let secret = form["secret"].split(separator: "/").last.map(String.init) ?? ""
        do {
            guard !secret.isEmpty else { throw ServiceError(.unauthenticated, "Paste a link or a token.") }
            if secret.hasPrefix("mlk_") {
                _ = try await service.visitor(secret)
                return redirect(Self.ownAddress(form["next"]), cookie: cookie.setting(secret))
            }
            let session = try await service.signIn(link: secret, current: await signedIn(request))
            return redirect(Self.ownAddress(form["next"]), cookie: cookie.setting(session.secret))
        } catch let error as ServiceError where error.code == .unauthenticated || error.code == .conflict {
            return signInPage(next: form.optional("next"), error: error.description)
        }
    }

    /// Who is signed in already: an invitation of an account that exists is for them.
    private func signedIn(_ request: Request) async -> Principal? {
        guard let secret = cookie.read(request) else { return nil }
        return try? await service.visitor(secret).principal
    }

    /// An address of this server's, and never another's.
    static func ownAddress(_ text: String) -> String {
        let isOwn =
            text.hasPrefix("/") && !text.hasPrefix("//") && !text.hasPrefix("/\\")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return isOwn ? text : "/"
    }
}
