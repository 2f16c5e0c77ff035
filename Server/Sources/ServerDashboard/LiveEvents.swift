import DeploymentPolicy
import Foundation
import Hummingbird
import ServerCore
import ServiceLifecycle

extension Dashboard {
    /// The interval in seconds between two look-ups of the counters.
    ///
    /// A connection lasts for a limited time: the browser then asks again, and people who have been signed out get no
    /// more.
    private static let interval = 2.0
    private static let maximumDuration = 600.0

    func collectionEvents(_ visit: Visit) async throws -> Response {
        let (place, _) = try await place(visit)
        let environment = try environment(visit, place.app)
        return live { try await self.counters(place, environment, release: nil, visit) }
    }

    func deploymentEvents(_ visit: Visit) async throws -> Response {
        let deployment = try await service.deployment(visit.name("deployment"), as: visit.actor)
        let app = try await service.app(deployment.app, as: visit.actor)
        let place = CollectionContext(app: app, id: deployment.collection)
        let release = deployment.definition.namedReleases.first
        return live { try await self.counters(place, deployment.environment, release: release, visit) }
    }

    /// The counters of a page, by the names in its `data-live` attributes.
    private func counters(_ place: CollectionContext, _ environment: String, release: Int?, _ visit: Visit) async throws
        -> [String: String]
    {
        var counters: [String: String] = [:]
        let devices = try await service.devices(scope(place, environment, days: 1), as: visit.actor)
        counters["devices"] = Texts.number(devices.values.reduce(0, +))
        let states = try await service.liveStates(app: place.app.id, collection: place.id, as: visit.actor)
        if let live = states.first(where: { $0.environment == environment }) {
            counters["live"] = "\(live.deployment.id) \(live.deployment.state.rawValue)"
        }
        if let release {
            let funnel = try await service.funnel(scope(place, environment, days: 7), release: release, as: visit.actor)
            for (stage, count) in funnel.counts { counters["\(release).\(stage.rawValue)"] = Texts.number(count) }
        }
        return counters
    }

    /// Sends counters whenever one has changed.
    private func live(_ counters: @escaping @Sendable () async throws -> [String: String]) -> Response {
        events { writer in
            let end = Date(timeIntervalSinceNow: Self.maximumDuration)
            var (last, quiet): ([String: String]?, Int) = (nil, 0)
            // The server's shutdown does not wait for open pages.
            while Date() < end, !Task.isCancelled, !Task.isShuttingDownGracefully {
                let now = try await counters()
                quiet += 1
                if now != last {
                    try await writer.write(ByteBuffer(string: "data: \(try PageJSON.text(now))\n\n"))
                    (last, quiet) = (now, 0)
                } else if quiet >= 8 {
                    try await writer.write(ByteBuffer(string: ": still here\n\n"))
                    quiet = 0
                }
                try await Task.sleep(for: .seconds(Self.interval))
            }
            try await writer.finish(nil)
        }
    }
}
