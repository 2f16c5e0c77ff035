import DeploymentPolicy
import Foundation
import Hummingbird
import ServerCore

/// The routes of `/api/v1` about rollouts, reports of devices, approvals and webhooks.
struct RolloutRoutes {
    let service: Service

    func add(to router: RouterGroup<Context>) {
        router.get("deployments/:deployment/rollout") { request, context in
            Answers.json(try await service.rolloutStatus(of: context.name("deployment"), as: context.actor))
        }
        router.get("apps/:app/collections/:collection/devices", use: devices)
        router.get("apps/:app/collections/:collection/releases/:number/reports", use: reports)
        router.put("apps/:app/approvals", use: setApprovals)
        router.get("teams/:team/webhooks") { request, context in
            Answers.json(try await service.webhooks(of: context.name("team"), as: context.actor))
        }
        router.post("teams/:team/webhooks", use: createWebhook)
        router.delete("teams/:team/webhooks/:webhook") { request, context in
            try await service.removeWebhook(context.name("webhook"), of: context.name("team"), as: context.actor)
            return Answers.empty
        }
    }

    // MARK: Reports

    /// The scope of a query: the last `hours` of a collection in an environment.
    private func scope(_ request: Request, _ context: Context) throws -> ReportScope {
        let hours = try request.integer("hours") ?? 7 * 24
        guard (1...400 * 24).contains(hours) else {
            throw ServiceError(.invalid, "1 to 9600 hours can be requested.", field: "hours")
        }
        return ReportScope(
            app: try context.name("app"),
            collection: try context.name("collection"),
            environment: request.uri.queryParameters["environment"].map(String.init) ?? "production",
            since: Date(timeIntervalSinceNow: -Double(hours) * 3600)
        )
    }

    private struct DeviceCount: Encodable {
        /// The number of the release; 0 for the models of the app bundle.
        let release: Int
        let devices: Int
    }

    @Sendable private func devices(_ request: Request, _ context: Context) async throws -> Response {
        let counts = try await service.devices(scope(request, context), as: context.actor)
        return Answers.json(counts.sorted { $0.key > $1.key }.map { DeviceCount(release: $0.key, devices: $0.value) })
    }

    private struct Reports: Encodable {
        struct Failure: Encodable {
            let reason: String
            let operatingSystem: String
            let deviceClass: String
            let count: Int
            let reports: Int
            /// The lower bound of the rate's confidence interval at 95 %.
            let lower: Double
            let upper: Double
        }

        /// The number of devices that reached each stage.
        let stages: [String: Int]
        let failures: [Failure]
    }

    @Sendable private func reports(_ request: Request, _ context: Context) async throws -> Response {
        guard let number = Int(try context.name("number")) else {
            throw ServiceError(.invalid, "A release has a number.", field: "number")
        }
        let scope = try scope(request, context)
        _ = try await service.release(number, app: scope.app, collection: scope.collection, as: context.actor)
        let funnel = try await service.funnel(scope, release: number, as: context.actor)
        let failures = try await service.failures(scope, release: number, as: context.actor)
        let stages = AdoptionFunnel.Stage.allCases.map { ($0.rawValue, funnel.count($0)) }
        return Answers.json(
            Reports(
                stages: Dictionary(uniqueKeysWithValues: stages),
                failures: failures.map { group in
                    Reports.Failure(
                        reason: group.reason,
                        operatingSystem: group.operatingSystem,
                        deviceClass: group.deviceClass,
                        count: group.count,
                        reports: group.reports,
                        lower: group.interval.lower,
                        upper: group.interval.upper
                    )
                }
            )
        )
    }

    // MARK: Approvals and webhooks

    private struct Approvals: Codable { let environments: [String] }

    @Sendable private func setApprovals(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(Approvals.self, context)
        return Answers.json(
            try await service.setApprovals(body.environments, app: context.name("app"), as: context.actor)
        )
    }

    private struct NewWebhook: Codable {
        let url: String
        let actions: [String]?
    }

    private struct CreatedWebhook: Encodable {
        let webhook: Webhook
        /// The secret that messages are signed with, which is shown only once.
        let secret: String
    }

    @Sendable private func createWebhook(_ request: Request, _ context: Context) async throws -> Response {
        let body = try await request.json(NewWebhook.self, context)
        let (webhook, secret) = try await service.createWebhook(
            body.url,
            actions: body.actions ?? [],
            team: context.name("team"),
            as: context.actor
        )
        return Answers.json(CreatedWebhook(webhook: webhook, secret: secret), status: .created)
    }
}
