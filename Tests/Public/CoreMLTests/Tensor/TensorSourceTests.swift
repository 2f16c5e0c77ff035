import CoreML
import Testing

extension MLTensor {
    /// The elements as `Float`, whatever the scalar type is.
    func floats() async -> [Float] { await cast(to: Float.self).shapedArray(of: Float.self).scalars }
}

extension MLTensor {
    func holds(_ type: any MLTensorScalar.Type) -> Bool { scalarType == type }
}

/// Code in the ways that apps write it for Apple's systems: it compiles, and gives what Apple documents.
struct TensorSourceTests {
    @Test func literalsChooseTheirTypes() async {
        let v1 = MLTensor([1.0, 2.0, 3.0, 4.0])
        let v2 = MLTensor([5.0, 6.0, 7.0, 8.0])
        let dot = v1.matmul(v2)
        #expect(dot.shape == [] && dot.isScalar)
        #expect(await dot.shapedArray(of: Float.self).scalar == 70)
        #expect(v1.holds(Float.self))
        #expect(MLTensor([1, 2, 3]).holds(Int32.self))
        #expect(MLTensor([1, 2, 3], scalarType: Float16.self).holds(Float16.self))
        #expect(MLTensor([true, false]).holds(Bool.self))
        #expect(MLTensor(Float(2)).shape == [] && MLTensor(UInt8(2)).holds(UInt8.self))
        let matrix: MLTensor = [[1, 2, 3], [4, 5, 6]]
        #expect(matrix.shape == [2, 3] && matrix.holds(Int32.self))
        let mixed: MLTensor = [[1, 2.5], [3, 4]]
        #expect(mixed.holds(Float.self))
        #expect(await mixed.floats() == [1, 2.5, 3, 4])
        let truth: MLTensor = true
        #expect(truth.holds(Bool.self))
        let none: MLTensor = []
        #expect(none.shape == [0])
    }

    @Test func documentedExamples() async {
        let x = MLTensor(shape: [3, 3], scalars: [0, 1, 2, 10, 11, 12, 20, 21, 22], scalarType: Float.self)
        let rows = MLTensor([2, 1], scalarType: Int32.self)
        #expect(await x.gathering(atIndices: rows, alongAxis: 0).floats() == [20, 21, 22, 10, 11, 12])
        #expect(await x.gathering(atIndices: rows, alongAxis: 1).floats() == [2, 1, 12, 11, 22, 21])
        let pairs = MLTensor(shape: [2, 2], scalars: [0, 0, 1, 1], scalarType: Int32.self)
        #expect(await x.gathering(atIndices: pairs).floats() == [0, 11])
        let y = MLTensor(shape: [2, 3], scalars: [10, 30, 20, 60, 40, 50], scalarType: Float.self)
        let places = MLTensor(shape: [2, 1], scalars: [1, 0], scalarType: Int32.self)
        #expect(await y.replacing(with: 99, atIndices: places, alongAxis: 1).floats() == [10, 99, 20, 99, 40, 50])
        let mask = MLTensor([false, true, false])
        let z = MLTensor([1, 2, 3], scalarType: Float.self).replacing(with: 5, where: mask)
        #expect(await z.shapedArray(of: Float.self).scalars == [1, 5, 3])
        let best = MLTensor(shape: [3, 2], scalars: [2, 3, 4, 5, 6, 7], scalarType: Float.self).argmax(alongAxis: 0)
        #expect(best.shape == [2] && best.holds(Int32.self))
        #expect(await best.shapedArray(of: Int32.self).scalars == [2, 2])
        let (values, indices) = MLTensor(shape: [1, 5], scalars: [1.0, 2.0, 3.0, 4.0, 5.0]).topK(3)
        #expect(await values.floats() == [5, 4, 3])
        #expect(await indices.shapedArray(of: Int32.self).scalars == [4, 3, 2])
        #expect(await MLTensor([1, 2, 3]).cumulativeProduct().floats() == [1, 2, 6])
        #expect(MLTensor([1, 2, 3], scalarType: Int32.self).cast(to: Float.self).holds(Float.self))
    }

    @Test func documentedPaddingAndPictures() async {
        let x = MLTensor(shape: [2, 3], scalars: [1, 2, 3, 4, 5, 6], scalarType: Float32.self)
        let sizes = [(before: 0, after: 0), (before: 2, after: 2)]
        let constant = x.padded(forSizes: [(0, 0), (2, 2)], mode: .constant(Float(0)))
        #expect(await constant.floats() == [0, 0, 1, 2, 3, 0, 0, 0, 0, 4, 5, 6, 0, 0])
        #expect(await x.padded(forSizes: sizes, with: 0.0).floats() == constant.floats())
        let reflection = x.padded(forSizes: sizes, mode: .reflection)
        #expect(await reflection.floats() == [3, 2, 1, 2, 3, 2, 1, 6, 5, 4, 5, 6, 5, 4])
        let symmetric = x.padded(forSizes: sizes, mode: .symmetric)
        #expect(await symmetric.floats() == [2, 1, 1, 2, 3, 3, 2, 5, 4, 4, 5, 6, 6, 5])
        let image = MLTensor(shape: [1, 1, 2, 2], scalars: [1, 0, 0, 1], scalarType: Float.self)
        let larger = image.resized(to: (4, 4), method: .nearestNeighbor)
        #expect(await larger.floats() == [1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1])
        #expect(image.resized(to: (newHeight: 3, newWidth: 5), method: .bilinear()).shape == [1, 1, 3, 5])
        let t = MLTensor(
            [[5, 1, 2, 3], [-1, 5, 1, 2], [-2, -1, 5, 1], [-3, -2, -1, 5]] as [MLTensor]
        )
        let upper = t.bandPart(lowerBandCount: 0, upperBandCount: -1)
        #expect(await upper.floats() == [5, 1, 2, 3, 0, 5, 1, 2, 0, 0, 5, 1, 0, 0, 0, 5])
    }

    @Test func subscriptsCompile() {
        let x = MLTensor(zeros: [1, 3, 28, 28], scalarType: Float.self)
        #expect(x[.squeezeAxis, ...].shape == [3, 28, 28])
        #expect(x[.newAxis, ...].shape == [1, 1, 3, 28, 28])
        #expect(x[..., 0].shape == [1, 3, 28] && x[.fillAll, 0].shape == [1, 3, 28])
        #expect(x[..., 0...2].shape == [1, 3, 28, 3])
        #expect(x[..., .closedRange(0...2, stride: 1)].shape == [1, 3, 28, 3])
        #expect(x[..., .range(0..<2, stride: 1)].shape == [1, 3, 28, 2])
        #expect(x[..., ...3].shape == [1, 3, 28, 4] && x[..., ..<3].shape == [1, 3, 28, 3])
        #expect(x[..., .partialRangeUpTo(...3, stride: 2)].shape == [1, 3, 28, 2])
        #expect(x[..., .partialRangeUpTo(..<3)].shape == [1, 3, 28, 3])
        #expect(x[..., .partialRangeFrom(20..., stride: 3)].shape == [1, 3, 28, 3])
        #expect(x[0, 1..., ..., .index(4)].shape == [2, 28])
        #expect(x[nil, -1].shape == [1, 28, 28] && x[nil, 2, nil, 0..<2].shape == [1, 28, 2])
        #expect(x[0].shape == [3, 28, 28] && x[0, 0, 0, ...].shape == [28])
        #expect(x[].shape == x.shape)
    }

    /// Sampling of tokens, as language models on Apple's systems write it.
    @Test func samplingOfTokensCompiles() async {
        let scores = MLTensor(shape: [1, 4], scalars: [0.5, 3, 1, -1], scalarType: Float16.self)
        let adjusted = scores / Float(0.7)
        #expect(adjusted.holds(Float16.self))
        let (topScores, topIndices) = adjusted.cast(to: Float.self).topK(2)
        let probabilities = topScores.softmax(alongAxis: -1)
        let random = probabilities.sum() * Float(0.999)
        var sums = probabilities.cumulativeSum(alongAxis: -1)
        sums += (sums .< random) * 100.0
        let place = sums.argsort()[..., 0]
        #expect(place.shape == [1])
        let token = topIndices.gathering(atIndices: place, alongAxis: topIndices.rank - 1).reshaped(to: [1, 1])
        #expect(await token.shapedArray(of: Int32.self).scalars == [2])
        let greedy = scores.argmax(alongAxis: -1).reshaped(to: [1, 1])
        let tokens = MLTensor(concatenating: [MLTensor(repeating: Int32(7), shape: [1, 2]), greedy], alongAxis: -1)
        #expect(await tokens.shapedArray(of: Int32.self).scalars == [7, 7, 1])
    }

    /// Rotary positions, as models of text write them.
    @Test func rotaryPositionsCompile() async {
        let half: Float = 4
        let positions = MLTensor(rangeFrom: Float(0), to: Float(6), by: 1)
        let frequencies = (-MLTensor(rangeFrom: Float(0), to: half, by: 1) * (log(10_000) / half)).exp()
        let theta = positions.reshaped(to: [-1, 1]) * frequencies.reshaped(to: [1, -1])
        let (cosines, sines) = (theta.cos(), theta.sin())
        let x = MLTensor(randomNormal: [6, 8], seed: 3, scalarType: Float.self)
        let (x1, x2) = (x[..., 0..<4], x[..., 4..<8])
        let rotated = MLTensor(
            concatenating: [x1 * cosines - x2 * sines, x1 * sines + x2 * cosines],
            alongAxis: -1
        )
        // Rotations keep lengths.
        let difference = (rotated.squared().sum(alongAxes: -1) - x.squared().sum(alongAxes: 1)).abs().max()
        #expect(await difference.floats()[0] < 1e-4)
        let complement = 1 - x
        #expect(await (complement + x).mean().floats()[0] == 1)
    }

    @Test func policiesAreValues() async throws {
        #expect(MLComputePolicy.cpuOnly == MLComputePolicy(.cpuOnly) && MLComputePolicy.cpuAndGPU != .cpuOnly)
        let sum = withMLTensorComputePolicy(.cpuOnly) { MLTensor([1.0, 2.0]).sum() }
        #expect(await sum.floats() == [3])
        let later = await withMLTensorComputePolicy(.cpuAndGPU) { await MLTensor([1.0, 2.0]).sum().floats() }
        #expect(later == [3])
        #expect(String(describing: MLComputePolicy.cpuOnly).contains("cpuOnly"))
        #expect(MLComputePolicy.cpuOnly.customMirror.children.count == 1)
    }
}
