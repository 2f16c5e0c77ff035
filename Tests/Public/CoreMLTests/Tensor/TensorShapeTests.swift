import CoreML
import Foundation
import Testing

/// Shapes, parts, indices and reductions against plain loops.
struct TensorShapeTests {
    /// 0, 1, 2, … in a shape.
    private static func counted(_ shape: [Int]) -> (tensor: MLTensor, plain: PlainTensor) {
        var next = -1.0
        let plain = PlainTensor(shape) { _ in
            next += 1
            return next
        }
        return (MLTensor(shape: shape, scalars: plain.floats), plain)
    }

    private func expect(_ tensor: MLTensor, _ plain: PlainTensor, _ comment: Comment? = nil) async {
        #expect(tensor.shape == plain.shape, comment)
        expectNear(await tensor.floats(), plain.floats, comment)
    }

    // MARK: Reductions

    @Test(arguments: [[0], [1], [2], [-1], [0, 1], [0, 2], [1, 2], [-3, -1], [0, 1, 2], []])
    func reductions(axes: [Int]) async {
        let (x, plain) = Self.counted([2, 3, 4])
        let places = axes.map { $0 < 0 ? $0 + 3 : $0 }
        for keepRank in [false, true] {
            func wanted(_ function: @escaping ([Double]) -> Double) -> PlainTensor {
                places.isEmpty ? plain : plain.reduced(places, keepRank: keepRank, function)
            }
            await expect(x.sum(alongAxes: axes, keepRank: keepRank), wanted { $0.reduce(0, +) })
            await expect(
                x.mean(alongAxes: axes, keepRank: keepRank),
                wanted { $0.reduce(0, +) / Double($0.count) }
            )
            await expect(
                (x / 8).product(alongAxes: axes, keepRank: keepRank),
                (places.isEmpty
                    ? PlainTensor(plain.shape, plain.values.map { $0 / 8 })
                    : plain.reduced(places, keepRank: keepRank) { $0.reduce(1) { $0 * $1 / 8 } })
            )
            await expect(x.max(alongAxes: axes, keepRank: keepRank), wanted { $0.max() ?? 0 })
            await expect(x.min(alongAxes: axes, keepRank: keepRank), wanted { $0.min() ?? 0 })
            let (mask, bits) = (
                x % 5 .< 2, PlainTensor(plain.shape) { plain[$0].truncatingRemainder(dividingBy: 5) < 2 ? 1 : 0 }
            )
            func truth(_ function: @escaping ([Double]) -> Double) -> PlainTensor {
                places.isEmpty ? bits : bits.reduced(places, keepRank: keepRank, function)
            }
            await expect(mask.any(alongAxes: axes, keepRank: keepRank), truth { $0.contains(1) ? 1 : 0 })
            await expect(mask.all(alongAxes: axes, keepRank: keepRank), truth { $0.contains(0) ? 0 : 1 })
        }
    }

    @Test func reductionsOfAll() async {
        let (x, _) = Self.counted([2, 3])
        #expect(await x.sum().floats() == [15])
        #expect(await x.mean().floats() == [2.5])
        #expect(await x.product().floats() == [0])
        #expect(await x.max().floats() == [5])
        #expect(await x.min(keepRank: true).floats() == [0])
        #expect(x.min(keepRank: true).shape == [1, 1] && x.max().shape == [])
        #expect(await x.argmax().floats() == [5])
        #expect(await x.argmin().floats() == [0])
        #expect(await (x .>= 0).all().floats() == [1])
        #expect((x .> 9).any(keepRank: true).shape == [1, 1])
        #expect(await x.sum(alongAxes: 0).floats() == [3, 5, 7])
        #expect(await x.mean(alongAxes: 0, 1).floats() == [2.5])
        #expect(await MLTensor(Float(3)).sum().floats() == [3])
    }

    @Test func extremesAndOrders() async {
        let x = MLTensor(shape: [2, 4], scalars: [3, 1, 3, 2, -1, 5, -1, 0] as [Float])
        #expect(await x.argmax(alongAxis: 1).floats() == [0, 1])
        #expect(await x.argmin(alongAxis: -1).floats() == [1, 0])
        #expect(x.argmax(alongAxis: 0, keepRank: true).shape == [1, 4])
        #expect(await x.argmax(alongAxis: 0).floats() == [0, 1, 0, 0])
        #expect(await x.argsort().floats() == [1, 3, 0, 2, 0, 2, 3, 1])
        #expect(await x.argsort(descendingOrder: true).floats() == [0, 2, 3, 1, 1, 3, 0, 2])
        #expect(await x.argsort(alongAxis: 0).floats() == [1, 0, 1, 1, 0, 1, 0, 0])
        let (values, indices) = x.topK(2)
        #expect(await values.floats() == [3, 3, 5, 0])
        #expect(await indices.floats() == [0, 2, 1, 3])
        #expect(x.topK(0).values.shape == [2, 0] && indices.holds(Int32.self))
    }

    @Test(arguments: [0, 1, 2, -1])
    func runningSumsAndProducts(axis: Int) async {
        let x = MLTensor(randomUniform: [3, 5, 2], in: 0.5..<1.5, seed: 8, scalarType: Float.self)
        let plain = PlainTensor([3, 5, 2], await x.floats().map { Double($0) })
        let place = axis < 0 ? axis + 3 : axis
        func running(_ function: @escaping (Double, Double) -> Double) -> PlainTensor {
            PlainTensor(plain.shape) { index in
                var (index, result) = (index, 0.0)
                let last = index[place]
                for step in 0...last {
                    index[place] = step
                    result = step == 0 ? plain[index] : function(result, plain[index])
                }
                return result
            }
        }
        await expect(x.cumulativeSum(alongAxis: axis), running(+))
        await expect(x.cumulativeProduct(alongAxis: axis), running(*))
    }

    @Test func softmaxAlongAnyAxis() async {
        let (x, plain) = Self.counted([2, 3])
        for axis in [0, 1, -1] {
            let sums = plain.reduced([axis < 0 ? 1 : axis], keepRank: true) { $0.reduce(0) { $0 + Foundation.exp($1) } }
            await expect(x.softmax(alongAxis: axis), .combine(plain, sums) { Foundation.exp($0) / $1 })
        }
    }

    @Test(arguments: [([3], [3]), ([2, 3], [3]), ([3], [3, 2]), ([4, 2, 3], [3, 5]), ([2, 1, 2, 3], [4, 3, 2])])
    func products(shapes: ([Int], [Int])) async {
        let (x, a) = Self.counted(shapes.0)
        let (y, b) = Self.counted(shapes.1)
        let (left, right) = (a.shape.count == 1 ? [1] + a.shape : a.shape, b.shape.count == 1 ? b.shape + [1] : b.shape)
        let (p, q) = (PlainTensor(left, a.values), PlainTensor(right, b.values))
        let (rows, terms, columns) = (left[left.count - 2], left[left.count - 1], right[right.count - 1])
        let lead = PlainTensor.combine(
            PlainTensor(Array(left.dropLast(2))) { _ in 0 },
            PlainTensor(Array(right.dropLast(2))) { _ in 0 },
            +
        ).shape
        func place(_ tensor: PlainTensor, _ index: [Int]) -> [Int] {
            zip(index.suffix(tensor.shape.count - 2), tensor.shape).map { $1 == 1 ? 0 : $0 }
        }
        var expected = PlainTensor(lead + [rows, columns]) { index in
            let batch = Array(index.dropLast(2))
            return (0..<terms).reduce(0) {
                $0 + p[place(p, batch) + [index[lead.count], $1]] * q[place(q, batch) + [$1, index[lead.count + 1]]]
            }
        }
        expected.shape = lead + (a.shape.count > 1 ? [rows] : []) + (b.shape.count > 1 ? [columns] : [])
        await expect(x.matmul(y), expected)
        await expect(x.cast(to: Int32.self).matmul(y.cast(to: Int32.self)), expected)
    }

    // MARK: Shapes

    @Test func shapes() async {
        let (x, _) = Self.counted([2, 1, 3])
        #expect(x.reshaped(to: [3, 2]).shape == [3, 2] && x.reshaped(to: [-1]).shape == [6])
        #expect(x.reshaped(to: [2, -1, 1]).shape == [2, 3, 1] && x.flattened().shape == [6])
        #expect(x.expandingShape(at: 0).shape == [1, 2, 1, 3] && x.expandingShape(at: -1, 1).shape == [2, 1, 1, 3, 1])
        #expect(x.squeezingShape().shape == [2, 3] && x.squeezingShape(at: 1).shape == [2, 3])
        #expect(x.squeezingShape(at: 0, -2).shape == [2, 3] && x.squeezingShape(at: [0]).shape == [2, 1, 3])
        #expect(await (x + 0).reshaped(to: [3, 2]).floats() == [0, 1, 2, 3, 4, 5])
        #expect(MLTensor([1.0]).reshaped(to: []).isScalar && MLTensor(Float(1)).flattened().shape == [1])
        #expect(x.rank == 3 && x.scalarCount == 6 && !x.isScalar)
        #expect(x.description == "MLTensor(shape: [2, 1, 3], scalarType: Float)")
        #expect(x.customMirror.children.map(\.label) == ["shape", "scalarType"])
    }

    @Test func orders() async {
        let (x, plain) = Self.counted([2, 3, 4])
        await expect(x.transposed(), PlainTensor([4, 3, 2]) { plain[$0.reversed()] })
        await expect(x.transposed(permutation: 1, -1, 0), PlainTensor([3, 4, 2]) { plain[[$0[2], $0[0], $0[1]]] })
        await expect(x.reversed(alongAxes: 0, -1), PlainTensor([2, 3, 4]) { plain[[1 - $0[0], $0[1], 3 - $0[2]]] })
        await expect(
            x.tiled(multiples: [1, 2, 3]),
            PlainTensor([2, 6, 12]) { plain[[$0[0], $0[1] % 3, $0[2] % 4]] }
        )
        await expect(
            x.bandPart(lowerBandCount: 1, upperBandCount: 0),
            PlainTensor([2, 3, 4]) { $0[1] - $0[2] <= 1 && $0[2] <= $0[1] ? plain[$0] : 0 }
        )
    }

    @Test func partsAndJoints() async {
        let (x, plain) = Self.counted([2, 6])
        let halves = x.split(count: 2, alongAxis: 1)
        await expect(halves[1], PlainTensor([2, 3]) { plain[[$0[0], $0[1] + 3]] })
        let parts = x.split(sizes: [1, 0, 5], alongAxis: -1)
        #expect(parts.map(\.shape) == [[2, 1], [2, 0], [2, 5]])
        await expect(MLTensor(concatenating: parts, alongAxis: 1), plain)
        await expect(parts[0].concatenated(with: parts[2], alongAxis: 1), plain)
        let rows = x.unstacked()
        #expect(rows.map(\.shape) == [[6], [6]])
        await expect(MLTensor(rows), plain)
        await expect(MLTensor(stacking: rows, alongAxis: -1), PlainTensor([6, 2]) { plain[$0.reversed()] })
        #expect(
            x.unstacked(alongAxis: 1).count == 6 && MLTensor(zeros: [0, 2], scalarType: Float.self).unstacked().isEmpty
        )
    }

    @Test func subscripts() async {
        let (x, plain) = Self.counted([3, 4, 5])
        await expect(x[1], PlainTensor([4, 5]) { plain[[1] + $0] })
        await expect(x[0..<2, ...], PlainTensor([2, 4, 5]) { plain[$0] })
        await expect(x[..., 1], PlainTensor([3, 4]) { plain[$0 + [1]] })
        await expect(x[..., -1], PlainTensor([3, 4]) { plain[$0 + [4]] })
        await expect(x[nil, 2, 1...], PlainTensor([3, 4]) { plain[[$0[0], 2, $0[1] + 1]] })
        await expect(x[(-2)..., ..<3, 2...3], PlainTensor([2, 3, 2]) { plain[[$0[0] + 1, $0[1], $0[2] + 2]] })
        await expect(x[..., (-3)...(-1)], PlainTensor([3, 4, 3]) { plain[[$0[0], $0[1], $0[2] + 2]] })
        await expect(x[2, ..., 1], PlainTensor([4]) { plain[[2, $0[0], 1]] })
        await expect(x[2, 3, ..., 4], PlainTensor([]) { _ in 59 })
        await expect(x[2, 3, 4, ...], PlainTensor([]) { _ in 59 })
        await expect(x[1, .newAxis, ..<100], PlainTensor([1, 4, 5]) { plain[[1] + $0.dropFirst()] })
        await expect(
            x[.range(0..<3, stride: 2), .partialRangeFrom(1..., stride: 2)],
            PlainTensor([2, 2, 5]) { plain[[$0[0] * 2, $0[1] * 2 + 1, $0[2]]] }
        )
        await expect(x[1..<1], PlainTensor([0, 4, 5], []))
        await expect(x[0..<1][.squeezeAxis, 0], PlainTensor([5]) { plain[[0, 0] + $0] })
        await expect((x + 1)[2, 3, 4], PlainTensor([]) { _ in 60 })
        await expect(MLTensor(Float(3))[.newAxis, ...], PlainTensor([1], [3]))
    }

    @Test func gatheringAndReplacing() async {
        let (x, plain) = Self.counted([3, 4])
        let indices = MLTensor(shape: [2, 2], scalars: [2, 0, -1, 1] as [Int32])
        let order = [2, 0, 2, 1]
        await expect(
            x.gathering(atIndices: indices, alongAxis: 0),
            PlainTensor([2, 2, 4]) { plain[[order[$0[0] * 2 + $0[1]], $0[2]]] }
        )
        await expect(x.gathering(atIndices: indices), PlainTensor([2]) { $0 == [0] ? plain[[2, 0]] : plain[[2, 1]] })
        let rows = MLTensor(shape: [1, 1], scalars: [1] as [Int32])
        await expect(x.gathering(atIndices: rows), PlainTensor([1, 4]) { plain[[1, $0[1]]] })
        let places = MLTensor(shape: [3, 2], scalars: [0, 1, 2, 3, 1, 0] as [Int32])
        let updates = MLTensor(shape: [3, 2], scalars: [-1, -2, -3, -4, -5, -6] as [Float])
        #expect(
            await x.replacing(with: updates, atIndices: places, alongAxis: 1).floats()
                == [-1, -2, 2, 3, 4, 5, -3, -4, -6, -5, 10, 11]
        )
        #expect(
            await x.replacing(atIndices: places, with: Float(9), alongAxis: -1).floats()
                == [9, 9, 2, 3, 4, 5, 9, 9, 9, 9, 10, 11]
        )
        let mask = MLTensor([true, false, false, true])
        #expect(await x.replacing(with: Float(0), where: mask).floats() == [0, 1, 2, 0, 0, 5, 6, 0, 0, 9, 10, 0])
        #expect(await x.replacing(with: -x, where: x .> 9).floats() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -10, -11])
        let integers = MLTensor([1, 2]).replacing(with: Float(2.9), where: MLTensor([true, false]))
        #expect(await integers.shapedArray(of: Int32.self).scalars == [2, 2])
    }

    @Test func padding() async {
        let (x, plain) = Self.counted([3, 2])
        let sizes = [(before: 1, after: 2), (before: 0, after: 1)]
        await expect(
            x.padded(forSizes: sizes, with: 7),
            PlainTensor([6, 3]) { (1...3).contains($0[0]) && $0[1] < 2 ? plain[[$0[0] - 1, $0[1]]] : 7 }
        )
        let mirror = [1, 0, 1, 2, 1, 0]
        await expect(
            x.padded(forSizes: sizes, mode: .reflection),
            PlainTensor([6, 3]) { plain[[mirror[$0[0]], [0, 1, 0][$0[1]]]] }
        )
        let edge = [0, 0, 1, 2, 2, 1]
        await expect(
            x.padded(forSizes: sizes, mode: .symmetric),
            PlainTensor([6, 3]) { plain[[edge[$0[0]], [0, 1, 1][$0[1]]]] }
        )
        let none = MLTensor(zeros: [0, 2], scalarType: Int32.self).padded(forSizes: [(1, 0), (0, 0)], with: 4)
        #expect(await none.shapedArray(of: Int32.self).scalars == [4, 4])
        #expect(MLTensor.PaddingMode.constant(2).description == "constant(2.0)")
    }

    @Test func resizing() async {
        let image = MLTensor(shape: [1, 2, 3], scalars: [0, 1, 2, 10, 11, 12] as [Float])
        let corners = image.resized(to: (3, 5), method: .bilinear(alignCorners: true))
        await expect(corners, PlainTensor([1, 3, 5]) { Double($0[1]) * 5 + Double($0[2]) / 2 })
        // The centre of an element is at a half.
        let edges = image.resized(to: (2, 6), method: .bilinear())
        let places: [Double] = [0, 0.25, 0.75, 1.25, 1.75, 2]
        await expect(edges, PlainTensor([1, 2, 6]) { Double($0[1]) * 10 + places[$0[2]] })
        await expect(image.resized(to: (2, 2)), PlainTensor([1, 2, 2]) { Double($0[1]) * 10 + [0, 2][$0[2]] })
        #expect(MLTensor.ResizeMethod.bilinear().description == "bilinear(alignCorners: false)")
    }
}
