import Foundation
import HTTPTypes
import Hummingbird
import ServerCore

extension Dashboard {
    func addSignIn<Context: RequestContext>(to pages: Pages<Context>) {
        pages.open("files/:version/:name") { _, parameters in try file(try parameters.require("name")) }
        pages.open("sign-in") { request, _ in
            signInPage(next: request.uri.queryParameters["next"].map(String.init))
        }
        pages.open("sign-in/with/:provider") { request, parameters in
            try await redirectToProvider(for: try parameters.require("provider"), request)
        }
        pages.open("sign-in/callback/:provider") { request, parameters in
            try await finishSignIn(from: try parameters.require("provider"), request)
        }
        pages.openForm("sign-in") { request, _, form in try await signIn(form, request) }
        pages.open("sign-in/:secret") { _, parameters in
            // Opening a link does not use it up: mail programs open links, too.
            page("sign-in-link", ["secret": try parameters.require("secret")], title: "Sign in")
        }
        pages.form("sign-out") { visit, _ in
            if visit.visitor.secret.hasPrefix("mlk_session_") { try await service.signOut(visit.visitor.secret) }
            return redirect("/sign-in", cookie: cookie.clearing)
        }
    }

    /// The errors of the form's three ways of signing in.
    private struct Failure {
        var secret: String?
        var password: String?
        var code: String?
        /// The address that was typed before.
        var email: String?
    }

    private func signInPage(next: String?, failure: Failure = Failure()) -> Response {
        struct Provider {
            let name: String
            let address: String
        }
        struct Content {
            let next: String?
            let error: String?
            let passwordError: String?
            let codeError: String?
            let email: String?
            let providers: [Provider]
            let hasProviders: Bool
        }
        let query = next.map { "?next=" + Self.queryEscaped($0) } ?? ""
        return page(
            "sign-in",
            Content(
                next: next,
                error: failure.secret,
                passwordError: failure.password,
                codeError: failure.code,
                email: failure.email,
                providers: service.providers.map { Provider(name: $0.name, address: "/sign-in/with/\($0.id)" + query) },
                hasProviders: !service.providers.isEmpty
            ),
            title: "Sign in",
            status: failure.secret == nil && failure.email == nil ? .ok : .unauthorized
        )
    }

    private func signIn(_ form: Form, _ request: Request) async throws -> Response {
        if let email = form.optional("email") {
            do {
                let session = try await service.signIn(
                    email: email,
                    password: form.exact("password"),
                    code: form.optional("code"),
                    address: Caller.address
                )
                return redirect(Self.localAddress(form["next"]), cookie: cookie.setting(session.secret))
            } catch let error as ServiceError where [.unauthenticated, .rateLimited].contains(error.code) {
                let isOfCode = error.field == "code"
                return signInPage(
                    next: form.optional("next"),
                    failure: Failure(
                        password: isOfCode ? nil : error.description,
                        code: isOfCode ? error.description : nil,
                        email: email
                    )
                )
            }
        }
        // A link as the server prints it, its last part, or a token.
        let secret = form["secret"].split(separator: "/").last.map(String.init) ?? ""
        do {
            guard !secret.isEmpty else { throw ServiceError(.unauthenticated, "Paste a link or a token.") }
            if secret.hasPrefix("mlk_") {
                _ = try await service.visitor(secret)
                return redirect(Self.localAddress(form["next"]), cookie: cookie.setting(secret))
            }
            let session = try await service.signIn(link: secret, current: await signedIn(request))
            return redirect(Self.localAddress(form["next"]), cookie: cookie.setting(session.secret))
        } catch let error as ServiceError where error.code == .unauthenticated || error.code == .conflict {
            return signInPage(next: form.optional("next"), failure: Failure(secret: error.description))
        }
    }

    // MARK: Identity providers

    private func redirectAddress(_ provider: String, _ request: Request) -> String {
        address(request) + "/sign-in/callback/\(provider)"
    }

    private func redirectToProvider(for provider: String, _ request: Request) async throws -> Response {
        let next = Self.localAddress(
            request.uri.queryParameters["next"].map { String($0).removingPercentEncoding ?? "" } ?? "/"
        )
        let away = try await service.beginSignIn(
            with: provider,
            redirect: redirectAddress(provider, request),
            next: next
        )
        return redirect(away.address, cookie: cookie.settingState(away.state))
    }

    /// The address to which a provider sends browsers back.
    private func finishSignIn(from provider: String, _ request: Request) async throws -> Response {
        func parameter(_ name: String) -> String? {
            request.uri.queryParameters[Substring(name)].map { String($0).removingPercentEncoding ?? "" }
        }
        do {
            guard let code = parameter("code"), let state = parameter("state") else {
                let why = parameter("error").map { $0.filter { $0.isLetter || $0 == "_" }.prefix(40) } ?? "no code"
                throw ServiceError(.unauthenticated, "The identity provider did not sign you in: \(why).")
            }
            let (session, next) = try await service.finishSignIn(
                with: provider,
                code: code,
                state: state,
                cookie: cookie.readState(request),
                issuer: parameter("iss"),
                redirect: redirectAddress(provider, request)
            )
            // A strict cookie is not sent along where another site has sent the browser, so a page of ours goes on.
            var response = page("signed-in", ["next": Self.localAddress(next)], title: "Signed in")
            response.headers[values: .setCookie] = [cookie.setting(session.secret), cookie.clearingState]
            response.headers[.refresh] = "0; url=\(Self.localAddress(next))"
            return response
        } catch let error as ServiceError where error.code == .unauthenticated || error.code == .conflict {
            var response = signInPage(next: nil, failure: Failure(secret: error.description))
            response.headers[values: .setCookie] = [cookie.clearingState]
            return response
        }
    }

    /// The person who is already signed in, whom an invitation of an existing account is for.
    private func signedIn(_ request: Request) async -> Principal? {
        guard let secret = cookie.read(request) else { return nil }
        return try? await service.visitor(secret).principal
    }

    /// An address on this server; the start page for any other.
    static func localAddress(_ text: String) -> String {
        let isLocal =
            text.hasPrefix("/") && !text.hasPrefix("//") && !text.hasPrefix("/\\")
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return isLocal ? text : "/"
    }
}
