import CoreML
import MLSpecification
import TestSupport
import Testing

/// Nearest-neighbours classifiers that learn, alone and in pipelines, against a plain vote.
struct NeighborUpdateTests {
    /// The label that most of the k nearest have; the first inserted of equals.
    static func vote(_ known: [(x: [Float], label: String)], _ query: [Float], k: Int) -> String {
        guard !known.isEmpty else { return "unknown" }
        var distances: [(index: Int, distance: Double)] = []
        for (index, point) in known.enumerated() {
            var distance = 0.0
            for (a, b) in zip(point.x, query) {
                let difference = Double(a) - Double(b)
                distance += difference * difference
            }
            distances.append((index, distance))
        }
        distances.sort { ($0.distance, $0.index) < ($1.distance, $1.index) }
        let nearest = distances.prefix(k).map { known[$0.index].label }
        var order: [String] = []
        for point in known where !order.contains(point.label) { order.append(point.label) }
        var best = order[0]
        for label in order where nearest.count(where: { $0 == label }) > nearest.count(where: { $0 == best }) {
            best = label
        }
        return best
    }

    static func label(_ model: MLModel, _ x: [Float], as input: String = "x") throws -> String? {
        try model.prediction(from: UpdatableModels.example(x, nil, as: input)).featureValue(for: "label")?.stringValue
    }

    static let queries: [[Float]] = [[-1, 1], [1, -1], [1.2, 1], [0, 0], [0.4, -0.3], [-0.2, 0.9]]

    @Test(arguments: [false, true], [1, 3, 4])
    func learnSaveLoadAndLearnAgain(isTree: Bool, k: Int64) throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let current = folder.appendingPathComponent("Current.mlmodelc")
        let url = try UpdatableModels.compiled(UpdatableModels.neighbors(k: k, isTree: isTree), in: folder)
        try FileManager.default.moveItem(at: url, to: current)
        var known: [(x: [Float], label: String)] = []
        #expect(try Self.label(MLModel(contentsOf: current), [0, 0]) == "unknown")
        for (round, count) in [3, 5, 20].enumerated() {
            var points = UpdatableModels.points(count)
            if round == 1 { points.append(([0, 0], "new")) }
            known += points
            let run = try UpdateRun.run(current, UpdatableModels.batch(points))
            #expect(run.steps == [.init(event: 1)])
            #expect(run.end?.task.state == .completed)
            let model = try #require(run.model)
            try model.write(to: current)
            let loaded = try MLModel(contentsOf: current)
            for query in Self.queries {
                let wanted = Self.vote(known, query, k: Int(k))
                #expect(try Self.label(model, query) == wanted)
                #expect(try Self.label(loaded, query) == wanted)
            }
        }
    }

    @Test func pipelinesLearnFromTheFeatures() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let inner = UpdatableModels.pipeline(
            UpdatableModels.extractor("middle", "features"),
            UpdatableModels.neighbors(input: "features"),
            named: "neighbors"
        )
        let nested = UpdatableModels.pipeline(UpdatableModels.extractor("x", "middle"), inner)
        let flat = UpdatableModels.pipeline(UpdatableModels.extractor(), UpdatableModels.neighbors(input: "features"))
        for (model, levels) in [(flat, 1), (nested, 2)] {
            let url = try UpdatableModels.compiled(model, in: folder)
            let points = UpdatableModels.points(9)
            func features(_ x: [Float]) -> [Float] {
                var x = x
                for _ in 0..<levels { x = [x[0] + x[1], x[0] - x[1]] }
                return x
            }
            let first = try UpdateRun.run(url, UpdatableModels.batch(Array(points[..<4])))
            try #require(first.model).write(to: url)
            let second = try UpdateRun.run(
                url,
                UpdatableModels.batch(Array(points[4...])),
                parameters: [MLParameterKey.numberOfNeighbors.scoped(to: levels == 1 ? "learner" : "neighbors"): 2]
            )
            let updated = try #require(second.model)
            #expect(try updated.parameterValue(for: .numberOfNeighbors) as? Int == 2)
            let known = points.map { (x: features($0.x), label: $0.label) }
            for query in Self.queries {
                #expect(try Self.label(updated, query) == Self.vote(known, features(query), k: 2))
            }
            // The file keeps its own number.
            try updated.write(to: url)
            let loaded = try MLModel(contentsOf: url)
            #expect(try loaded.parameterValue(for: .numberOfNeighbors) as? Int == 3)
            for query in Self.queries {
                #expect(try Self.label(loaded, query) == Self.vote(known, features(query), k: 3))
            }
        }
    }

    @Test func integerLabels() throws {
        let folder = try UpdatableModels.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try UpdatableModels.compiled(UpdatableModels.neighbors(k: 1, isString: false), in: folder)
        let data = MLArrayBatchProvider(array: [
            try UpdatableModels.example([0, 0], 10), try UpdatableModels.example([1, 1], 20),
        ])
        let model = try #require(UpdateRun.run(url, data).model)
        let answer = try model.prediction(from: UpdatableModels.example([0.9, 0.8], nil))
        #expect(answer.featureValue(for: "label")?.int64Value == 20)
    }
}
