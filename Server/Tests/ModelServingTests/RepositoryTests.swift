import Foundation
import FoundationNetworking
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import ServiceLifecycle
import Synchronization
import Testing

import ModelServing

/// The responses that clients of a changing server have seen.
private final class Progress: Sendable {
    let isDone = Atomic(false)
    let seen = Mutex<Set<Double>>([])
}

/// A service that tells when its graceful shutdown begins.
private struct Observed<Base: Service>: Service {
    let base: Base
    let tell: @Sendable () -> Void

    func run() async throws {
        try await withGracefulShutdownHandler {
            try await base.run()
        } onGracefulShutdown: {
            tell()
        }
    }
}

@Suite("Repositories of models") struct RepositoryTests {
    private static let body = #"{"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,0,0]}]}"#

    @Test func clientsLoadAndUnloadInExplicitControl() async throws {
        let world = try await ServingWorld(control: .explicit) { models in
            try models.write(try TestModels.rows(), "rows/1/model.mlmodel")
            try models.write(try TestModels.rows(scale: 3), "rows/3/model.mlmodel")
            try models.write(try TestModels.neighbors(), "other.mlmodel")
        }
        try await world.run { client in
            let infer = "/v2/models/rows/infer"
            let unloaded = try await client.post(infer, Self.body)
            #expect(unloaded.status == .serviceUnavailable)
            #expect(try Answer(unloaded).error?.contains("not loaded") == true)
            #expect(try await client.post("/v2/repository/models/rows/load", "{}").status == .ok)
            #expect(try Answer(await client.post(infer, Self.body)).model_version == "3")
            let index = String(buffer: try await client.post("/v2/repository/index", "").body)
            #expect(index.contains(#"{"name":"other","version":"1","state":"UNAVAILABLE","reason":"not loaded"}"#))
            let ready = String(buffer: try await client.post("/v2/repository/index", #"{"ready":true}"#).body)
            #expect(ready.contains(#""version":"3""#) && !ready.contains("other"))
            let parameters = #"{"parameters":{"config":"{}"}}"#
            let refused = try await client.post("/v2/repository/models/rows/load", parameters)
            let reason = try Answer(refused).error
            #expect(refused.status == .badRequest && reason?.contains("config") == true)
            #expect(try await client.post("/v2/repository/models/none/load", "").status == .notFound)
            #expect(try await client.post("/v2/repository/models/none/unload", "").status == .notFound)
            #expect(try await client.post("/v2/repository/models/rows/unload", "").status == .ok)
            #expect(try await client.post(infer, Self.body).status == .serviceUnavailable)
        }
    }

    /// The effect of SIGHUP in explicit control.
    @Test func explicitControlRefreshesLoadedModelsAlone() async throws {
        let world = try await ServingWorld(control: .explicit) { models in
            try models.write(try TestModels.rows(), "rows/1/model.mlmodel")
            try models.write(try TestModels.neighbors(), "other.mlmodel")
        }
        try await world.run { client in
            #expect(try await client.post("/v2/repository/models/rows/load", "{}").status == .ok)
            try world.models.write(try TestModels.rows(scale: 2), "rows/1/model.mlmodel")
            try world.models.write(try TestModels.rows(scale: 3), "rows/2/model.mlmodel")
            await world.repository.refresh()
            await world.repository.refresh()
            for (version, y) in [("1", 2.0), ("2", 3.0)] {
                let answer = try await client.post("/v2/models/rows/versions/\(version)/infer", Self.body)
                #expect(try Answer(answer).numbers("y")?[0] == y)
            }
            #expect(world.repository.loaded.map(\.name) == ["rows", "rows"])
        }
    }

    @Test func changedFilesTakeTheirPlaceWithoutALostRequest() async throws {
        let world = try await ServingWorld { try $0.write(try TestModels.rows(), "rows/1/model.mlmodel") }
        try await world.run { client in
            let infer = "/v2/models/rows/infer"
            let progress = Progress()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        while !progress.isDone.load(ordering: .relaxed) {
                            let response = try await client.post(infer, Self.body)
                            #expect(response.status == .ok)
                            if let y = try Answer(response).numbers("y")?[0] {
                                progress.seen.withLock { _ = $0.insert(y) }
                            }
                        }
                    }
                }
                for scale in [2, 3] {
                    try world.models.write(try TestModels.rows(scale: Float(scale)), "rows/1/model.mlmodel")
                    await world.repository.refresh()
                    await world.repository.refresh()
                    #expect(try Answer(await client.post(infer, Self.body)).numbers("y")?[0] == Double(scale))
                }
                progress.isDone.store(true, ordering: .relaxed)
                try await group.waitForAll()
            }
            #expect(progress.seen.withLock { $0.isSubset(of: [1, 2, 3]) && !$0.isEmpty })
            // A broken file leaves what is served; the server says that it is not what it should be.
            try Data("no model".utf8).write(to: URL(fileURLWithPath: world.models.path("rows/1/model.mlmodel")))
            await world.repository.refresh()
            await world.repository.refresh()
            #expect(try Answer(await client.post(infer, Self.body)).numbers("y")?[0] == 3)
            let ready = try await client.get("/v2/health/ready")
            #expect(ready.status == .serviceUnavailable && String(buffer: ready.body) == #"{"ready":false}"#)
            // Two models in a version's folder, as while one is replaced, leave what is served, too.
            try world.models.write(try TestModels.rows(scale: 4), "rows/1/other.mlmodel")
            for _ in 0..<3 { await world.repository.refresh() }
            #expect(try Answer(await client.post(infer, Self.body)).numbers("y")?[0] == 3)
            // A new version is served, one that is gone is not.
            try world.models.write(try TestModels.rows(scale: 5), "rows/2/model.mlmodel")
            await world.repository.refresh()
            await world.repository.refresh()
            #expect(try Answer(await client.post(infer, Self.body)).numbers("y")?[0] == 5)
            try FileManager.default.removeItem(atPath: world.models.path("rows"))
            await world.repository.refresh()
            await world.repository.refresh()
            #expect(try await client.post(infer, Self.body).status == .notFound)
        }
    }

    @Test func sources() throws {
        let models = try TestModels()
        try models.write(try TestModels.rows(), "rows.mlmodel")
        try models.write(try TestModels.rows(), "folder/a/1/m.mlmodel")
        try models.write(try TestModels.rows(), "folder/a/2/m.mlmodel")
        try models.write(try TestModels.rows(), "folder/a/2/n.mlmodel")
        try models.write(try TestModels.rows(), "folder/a/02/m.mlmodel")
        let file = try ModelSource(argument: models.path("rows.mlmodel")).models().found
        #expect(file.map(\.name) == ["rows"] && file.map(\.version) == ["1"])
        let named = try ModelSource(argument: "other=" + models.path("rows.mlmodel")).models().found
        #expect(named.map(\.name) == ["other"])
        let listing = try ModelSource(argument: models.path("folder")).models()
        #expect(listing.found.map { $0.name + $0.version } == ["a1"] && listing.unclear == [["a", "2"]])
        #expect(listing.problems.count == 1 && listing.problems[0].contains("holds 2"))
        for argument in [models.path("none.mlmodel"), "/dev/null", "a/b=" + models.path("rows.mlmodel")] {
            #expect(throws: ServingError.self) { try ModelSource(argument: argument) }
        }
    }

    @Test func shutdownAnswersWhatIsInHand() async throws {
        var batches = BatchOptions()
        (batches.delay, batches.stacksWhenFaster) = (.milliseconds(700), false)
        let clock = StandingClock()
        let world = try await ServingWorld(batches: batches, clock: clock) { models in
            try models.write(try TestModels.rows(), "rows.mlmodel")
        }
        defer { world.pool.stop() }
        let (shutdowns, shutdown) = AsyncStream<Void>.makeStream()
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        var options = ConnectionOptions()
        options.port = 0
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let application = servingApplication(world.routes, options: options, logger: logger) {
            continuation.yield($0)
        }
        let observed = Observed(base: application) { shutdown.finish() }
        let group = ServiceGroup(configuration: .init(services: [.init(service: observed)], logger: logger))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var iterator = ports.makeAsyncIterator()
            let port = try #require(await iterator.next())
            tasks.addTask {
                var request = URLRequest(url: URL(string: "http://127.0.0.1:\(port)/v2/models/rows/infer")!)
                request.httpMethod = "POST"
                request.httpBody = Data(Self.body.utf8)
                let (data, response) = try await URLSession.shared.data(for: request)
                #expect((response as? HTTPURLResponse)?.statusCode == 200)
                #expect(String(decoding: data, as: UTF8.self).contains("\"data\":[1.0,4.0,8.0]"))
            }
            // The request waits for others when the shutdown begins.
            await clock.isAwaited()
            await group.triggerGracefulShutdown()
            for await _ in shutdowns {}
            clock.advance(by: batches.delay)
            try await tasks.waitForAll()
        }
    }

    @Test func theVersionIsThatOfTheProject() throws {
        let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../VERSION").standardized
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(ServingRoutes.version == text.trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
