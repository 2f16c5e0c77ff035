import CoreML
import Foundation
import MLSpecification
import Testing

/// Whole computations as apps make them.
struct TensorFlowTests {
    /// softmax(q · kᵀ / √d) · v for each head, and the same in nested loops.
    @Test func attention() async {
        let (heads, length, depth) = (3, 5, 4)
        let shape = [heads, length, depth]
        let q = MLTensor(randomNormal: shape, seed: 1, scalarType: Float.self)
        let k = MLTensor(randomNormal: shape, seed: 2, scalarType: Float.self)
        let v = MLTensor(randomNormal: shape, seed: 3, scalarType: Float.self)
        let scale = 1 / Float(depth).squareRoot()
        let result = (q.matmul(k.transposed(permutation: 0, 2, 1)) * scale).softmax().matmul(v)
        #expect(result.shape == shape)
        let (qs, ks, vs) = (await q.floats(), await k.floats(), await v.floats())
        func at(_ values: [Float], _ head: Int, _ row: Int, _ column: Int) -> Float {
            values[(head * length + row) * depth + column]
        }
        var expected: [Float] = []
        for head in 0..<heads {
            for row in 0..<length {
                var weights = (0..<length).map { other in
                    Foundation.exp(
                        (0..<depth).reduce(Float(0)) { $0 + at(qs, head, row, $1) * at(ks, head, other, $1) } * scale
                    )
                }
                let sum = weights.reduce(0, +)
                weights = weights.map { $0 / sum }
                for column in 0..<depth {
                    expected.append((0..<length).reduce(0) { $0 + weights[$1] * at(vs, head, $1, column) })
                }
            }
        }
        expectNear(await result.floats(), expected)
    }

    /// Bytes of a picture become normalised planes.
    @Test func normalisationOfAPicture() async {
        let (height, width) = (4, 3)
        let pixels = (0..<height * width * 3).map { UInt8(($0 * 37) % 256) }
        let picture = MLTensor(shape: [height, width, 3], scalars: pixels)
        let mean = MLTensor([0.485, 0.456, 0.406])
        let deviation = MLTensor([0.229, 0.224, 0.225])
        let planes = ((picture.cast(to: Float.self) / 255 - mean) / deviation)
            .transposed(permutation: 2, 0, 1).expandingShape(at: 0)
        #expect(planes.shape == [1, 3, height, width])
        let (means, deviations): ([Float], [Float]) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
        var expected: [Float] = []
        for channel in 0..<3 {
            for pixel in 0..<height * width {
                expected.append((Float(pixels[pixel * 3 + channel]) / 255 - means[channel]) / deviations[channel])
            }
        }
        expectNear(await planes.floats(), expected)
    }

    /// The most probable tokens of two sequences, with everything else masked.
    @Test func filteringOfLogits() async {
        let logits = MLTensor(randomNormal: [2, 50], standardDeviation: 3, seed: 9, scalarType: Float.self)
        let (best, _) = logits.topK(5)
        let bound = best[..., -1].expandingShape(at: -1)
        let masked = logits.replacing(with: -Float.infinity, where: logits .< bound)
        let probabilities = masked.softmax()
        let (values, kept) = (await logits.floats(), await probabilities.floats())
        for row in 0..<2 {
            let line = Array(values[row * 50..<(row + 1) * 50])
            let least = line.sorted(by: >)[4]
            let sum = line.filter { $0 >= least }.reduce(Float(0)) { $0 + Foundation.exp($1) }
            for column in 0..<50 {
                let expected = line[column] >= least ? Foundation.exp(line[column]) / sum : 0
                #expect(Swift.abs(kept[row * 50 + column] - expected) < 1e-5)
            }
        }
    }

    /// The same seed draws the same token; many draws have the tokens' frequencies.
    @Test func sampling() async {
        let probabilities = MLTensor([0.1, 0.2, 0.7] as [Float])
        func draws(_ seed: UInt64) async -> [Int32] {
            let random = MLTensor(randomUniform: [2000, 1], seed: seed, scalarType: Float.self)
            let passed = (random .> probabilities.cumulativeSum()).cast(to: Int32.self)
            return await passed.sum(alongAxes: 1).clamped(to: ...2).shapedArray(of: Int32.self).scalars
        }
        let first = await draws(5)
        #expect(await draws(5) == first)
        #expect(await draws(6) != first)
        for (token, share) in [0.1, 0.2, 0.7].enumerated() {
            let count = first.filter { $0 == token }.count
            #expect(Swift.abs(Double(count) / 2000 - share) < 0.05)
        }
    }

    /// A step of a beam search: the best continuations, and the caches of the beams that they continue.
    @Test func beams() async {
        let (beams, tokens) = (3, 7)
        let scores = MLTensor(randomNormal: [beams, tokens], seed: 4, scalarType: Float.self)
        let cache = MLTensor(randomNormal: [beams, 2, 4], seed: 5, scalarType: Float.self)
        let (_, places) = scores.flattened().topK(beams)
        let parents = places / Int32(tokens)
        let words = places % Int32(tokens)
        let reordered = cache.gathering(atIndices: parents, alongAxis: 0)
        let (all, rows) = (await scores.floats(), await cache.floats())
        let order = all.indices.sorted { all[$0] > all[$1] }.prefix(beams)
        #expect(await parents.shapedArray(of: Int32.self).scalars == order.map { Int32($0 / tokens) })
        #expect(await words.shapedArray(of: Int32.self).scalars == order.map { Int32($0 % tokens) })
        #expect(await reordered.floats() == order.flatMap { rows[$0 / tokens * 8..<($0 / tokens + 1) * 8] })
    }

    // MARK: Models

    private static func product() throws -> MLModel {
        try programModel(
            """
            func main<ios18>(tensor<fp32, [2, 3]> x, tensor<fp32, [3]> shift) {
                tensor<fp32, [2, 3]> doubled = add(x = x, y = x);
                tensor<fp32, [2, 3]> y = add(x = doubled, y = shift);
            } -> (y);
            """,
            inputs: [("x", .float32, [2, 3]), ("shift", .float32, [3])],
            outputs: [("y", .float32, [2, 3])]
        )
    }

    @Test func predictionFromTensors() async throws {
        let model = try Self.product()
        let x = MLTensor(rangeFrom: Int32(0), to: 6, by: 1).reshaped(to: [2, 3])
        let outputs = try await model.prediction(from: ["x": x, "shift": MLTensor([10.0, 20.0, 30.0])])
        let y = try #require(outputs["y"])
        #expect(y.shape == [2, 3] && y.holds(Float.self))
        #expect(await (y + 1).floats() == [11, 23, 35, 17, 29, 41])
        // Outputs are inputs of the next prediction.
        let next = try await model.prediction(from: ["x": y, "shift": -y[0]])
        #expect(await next["y"]?.floats() == [10, 22, 34, 22, 34, 46])
    }

    @Test func predictionsThatDoNotFitThrow() async throws {
        let model = try Self.product()
        let error = await #expect(throws: MLModelError.self) {
            try await model.prediction(from: ["x": MLTensor(zeros: [2, 3], scalarType: Float.self), "z": 1])
        }
        #expect(error?.code == .featureType)
        #expect(error?.localizedDescription.contains("\"shift\"") == true)
        #expect(error?.localizedDescription.contains("\"z\"") == true)
        let shape = await #expect(throws: MLModelError.self) {
            try await model.prediction(from: ["x": MLTensor([1.0]), "shift": MLTensor([1.0, 2.0, 3.0])])
        }
        #expect(shape?.code == .featureType)
    }

    @Test func predictionsKeepStates() async throws {
        let model = try StateTests.counter()
        let state = model.makeState()
        let x = MLTensor([1, 2], scalarType: Float16.self)
        _ = try await model.prediction(from: ["x": x], using: state)
        let outputs = try await model.prediction(from: ["x": x * 10], using: state)
        let y = try #require(outputs["y"])
        #expect(y.holds(Float16.self))
        #expect(await y.shapedArray(of: Float16.self).scalars == [11, 22])
        await #expect(throws: MLModelError.self) { try await model.prediction(from: ["x": x]) }
        await #expect(throws: MLModelError.self) {
            try await model.prediction(from: ["x": x], using: Self.product().makeState())
        }
    }

    @Test func predictionsStopWhenTheirTaskIsCancelled() async throws {
        let model = try Self.product()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await model.prediction(from: ["x": MLTensor(zeros: [2, 3], scalarType: Float.self)]).count
        }
        let error = await #expect(throws: MLModelError.self) { try await task.value }
        #expect(error?.code == .predictionCancelled)
    }
}

/// Expects numbers that differ by 10⁻⁵ of their size at most.
func expectNear(
    _ values: [Float],
    _ expected: [Float],
    _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let differing = zip(values, expected).first {
        !(Swift.abs($0 - $1) <= 1e-5 * Swift.max(1, Swift.abs($1)) || $0 == $1 || $0.isNaN && $1.isNaN)
    }
    #expect(values.count == expected.count, comment, sourceLocation: sourceLocation)
    #expect(differing == nil, comment, sourceLocation: sourceLocation)
}
