import CoreML
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Testing

import ModelServing

@Suite("Dynamic batches") struct BatchTests {
    private func body(_ values: [Int]) -> String {
        "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[\(values.count / 3),3],\"data\":\(values)}]}"
    }

    private func options(_ maximumBatchSize: Int, _ delay: Duration, waiting: Int = 256) -> BatchOptions {
        var options = BatchOptions()
        (options.maximumBatchSize, options.delay, options.maximumQueueLength) = (maximumBatchSize, delay, waiting)
        options.stacksWhenFaster = false
        return options
    }

    @Test func rowsAreStackedAndEachHasItsAnswer() async throws {
        let clock = StandingClock()
        let world = try await ServingWorld(batches: options(8, .seconds(40)), workers: 1, clock: clock) { models in
            try models.write(try TestModels.rows(), "rows.mlmodel")
        }
        let model = try world.repository.model("rows", nil)
        #expect(model.queue.predictor.form == .stacked && model.maximumBatchSize == 8)
        try await world.run { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<6 {
                    group.addTask {
                        let answer = try Answer(await client.post("/v2/models/rows/infer", body([index, 0, 0])))
                        let x = Double(index)
                        #expect(answer.numbers("y") == [x, 4 * x, 7 * x + 1])
                    }
                }
                // Two rows fill the batch, which then does not wait.
                group.addTask {
                    let answer = try Answer(await client.post("/v2/models/rows/infer", body([1, 0, 0, 0, 1, 0])))
                    #expect(answer.numbers("y") == [1, 4, 8, 2, 5, 9] && answer.outputs?.first?.shape == [2, 3])
                }
                try await group.waitForAll()
            }
            let metrics = String(buffer: try await client.get("/metrics").body)
            // Seven examples, each of which counts all seven.
            #expect(metrics.contains("coreml_serve_batch_size_sum{model=\"rows\",version=\"1\"} 49\n"), "\(metrics)")
        }
    }

    @Test func delayIsTheLongestWait() async throws {
        let clock = StandingClock()
        let batches = options(8, .milliseconds(300))
        let world = try await ServingWorld(batches: batches, workers: 1, clock: clock) { models in
            try models.write(try TestModels.rows(), "rows.mlmodel")
        }
        let model = try world.repository.model("rows", nil)
        try await world.run { client in
            async let response = client.post("/v2/models/rows/infer", body([1, 2, 3]))
            await clock.isAwaited()
            clock.advance(by: .milliseconds(299))
            await clock.isAwaited(2)
            #expect(model.waiting == 1)
            clock.advance(by: .milliseconds(1))
            let status = try await response.status
            #expect(status == .ok)
        }
    }

    @Test func aClassicModelPredictsBatches() async throws {
        let clock = StandingClock()
        let world = try await ServingWorld(batches: options(4, .seconds(5)), workers: 1, clock: clock) { models in
            try models.write(try TestModels.neighbors(), "neighbors.mlmodel")
            try models.write(try TestModels.copy(.float32, [2]), "copy.mlmodel")
        }
        let neighbors = try world.repository.model("neighbors", nil)
        #expect(neighbors.queue.predictor.form == .together)
        // One shape: nothing can be stacked.
        let copy = try world.repository.model("copy", nil)
        #expect(copy.queue.predictor.form == .single)
        try await world.run { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<4 {
                    group.addTask {
                        let point = index % 2 == 0 ? "[1,1]" : "[9,9]"
                        let input = "{\"name\":\"point\",\"datatype\":\"FP32\",\"shape\":[2],\"data\":\(point)}"
                        let answer = try Answer(
                            await client.post("/v2/models/neighbors/infer", "{\"inputs\":[\(input)]}")
                        )
                        #expect(answer.texts("kind") == [index % 2 == 0 ? "near" : "far"])
                    }
                }
                try await group.waitForAll()
            }
            let metrics = String(buffer: try await client.get("/metrics").body)
            #expect(
                metrics.contains("coreml_serve_batch_size_sum{model=\"neighbors\",version=\"1\"} 16\n"),
                "\(metrics)"
            )
        }
    }

    @Test func aFullQueueRefuses() async throws {
        let clock = StandingClock()
        let batches = options(8, .seconds(2), waiting: 2)
        let world = try await ServingWorld(batches: batches, workers: 1, clock: clock) { models in
            try models.write(try TestModels.rows(), "rows.mlmodel")
        }
        try await world.run { client in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        let response = try await client.post("/v2/models/rows/infer", body([1, 2, 3]))
                        #expect(response.headers[.retryAfter] == (response.status == .ok ? nil : "1"))
                        return response.status.code
                    }
                }
                // Two wait; the others are refused at once.
                for _ in 0..<3 {
                    let status = try await group.next()
                    #expect(status == 503)
                }
                clock.advance(by: .seconds(2))
                let statuses = try await group.reduce(into: []) { $0.append($1) }
                #expect(statuses == [200, 200])
            }
        }
    }
}
