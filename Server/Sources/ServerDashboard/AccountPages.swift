import Hummingbird
import ServerCore

/// The ways in which a person signs in: password, authenticator, identity providers.
extension Dashboard {
    func addAccount<Context: RequestContext>(to pages: Pages<Context>) {
        pages.get("account") { visit in try await accountPage(visit) }
        pages.form("account/password") { visit, form in
            try await change(visit) {
                let password = form.exact("password")
                guard password == form.exact("again") else {
                    throw ServiceError(.invalid, "Both must be the same.", field: "password")
                }
                try await service.setPassword(password, of: visit.actor, session: visit.visitor.secret)
                return redirect("/account?done=password")
            }
        }
        pages.form("account/password/remove") { visit, _ in
            try await change(visit) {
                try await service.setPassword(nil, of: visit.actor, session: visit.visitor.secret)
                return redirect("/account?done=noPassword")
            }
        }
        pages.form("account/authenticator") { visit, _ in
            try await change(visit) {
                let secret = try await service.beginSecondFactor(of: visit.actor, session: visit.visitor.secret)
                return try await accountPage(visit, secret: secret)
            }
        }
        pages.form("account/authenticator/confirm") { visit, form in
            try await change(visit) {
                let codes = try await service.confirmSecondFactor(
                    form["code"],
                    of: visit.actor,
                    session: visit.visitor.secret
                )
                return try await accountPage(visit, codes: codes)
            }
        }
        pages.form("account/authenticator/remove") { visit, _ in
            try await change(visit) {
                try await service.removeSecondFactor(of: visit.actor, session: visit.visitor.secret)
                return redirect("/account?done=noAuthenticator")
            }
        }
    }

    /// Makes a change, or shows the page again with the error.
    private func change(_ visit: Visit, _ body: () async throws -> Response) async throws -> Response {
        do { return try await body() } catch let error as ServiceError
            where [.invalid, .forbidden, .conflict, .rateLimited].contains(error.code)
        {
            return try await accountPage(visit, failure: error)
        }
    }

    private func accountPage(
        _ visit: Visit,
        secret: SecondFactorSecret? = nil,
        codes: [String] = [],
        failure: ServiceError? = nil
    ) async throws -> Response {
        struct Secret {
            let text: String
            let address: String
        }
        struct Content {
            let email: String
            let name: String
            let hasPassword: Bool
            let hasSecondFactor: Bool
            let recoveryCodes: String
            let issuers: [String]
            let hasIssuers: Bool
            let isFresh: Bool
            let secret: Secret?
            let codes: [String]
            let hasCodes: Bool
            let failure: String?
            let passwordError: String?
            let codeError: String?
            let mayBegin: Bool
            let asksCode: Bool
        }
        let methods = try await service.signInMethods(of: visit.actor, session: visit.visitor.secret)
        let isOfField = failure.map { ["password", "code"].contains($0.field) } ?? false
        return page(
            "account",
            Content(
                email: methods.email,
                name: methods.name,
                hasPassword: methods.hasPassword,
                hasSecondFactor: methods.hasSecondFactor,
                recoveryCodes: Texts.count(methods.recoveryCodes, "recovery code", "recovery codes"),
                issuers: methods.issuers,
                hasIssuers: !methods.issuers.isEmpty,
                isFresh: methods.isFresh,
                secret: secret.map { secret in
                    let groups = stride(from: 0, to: secret.text.count, by: 4).map {
                        secret.text.dropFirst($0).prefix(4)
                    }
                    return Secret(text: groups.joined(separator: " "), address: secret.address)
                },
                codes: codes,
                hasCodes: !codes.isEmpty,
                failure: isOfField ? nil : failure?.description,
                passwordError: failure?.field == "password" ? failure?.description : nil,
                codeError: failure?.field == "code" ? failure?.description : nil,
                mayBegin: methods.isFresh && !methods.hasSecondFactor && secret == nil,
                asksCode: secret != nil || failure?.field == "code"
            ),
            title: "Sign-in settings",
            visitor: visit.visitor,
            status: failure.map { $0.status } ?? .ok
        )
    }
}
