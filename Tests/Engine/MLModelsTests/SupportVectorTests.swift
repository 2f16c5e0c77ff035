import Glibc
import MLFeatures
import MLModels
import MLNumerics
import MLSpecification
import Testing

/// Support vector machines against their formulas.
struct SupportVectorTests {
    static let kernels: [SpecKernel.OneOf_Kernel] = {
        var rbf = SpecRBFKernel()
        rbf.gamma = 0.7
        var polynomial = SpecPolyKernel()
        (polynomial.degree, polynomial.gamma, polynomial.c) = (3, 0.5, 1.5)
        var sigmoid = SpecSigmoidKernel()
        (sigmoid.gamma, sigmoid.c) = (0.3, -0.2)
        return [.linearKernel(SpecLinearKernel()), .rbfKernel(rbf), .polyKernel(polynomial), .sigmoidKernel(sigmoid)]
    }()

    static func compare(_ kernel: SpecKernel.OneOf_Kernel, _ x: [Double], _ y: [Double]) -> Double {
        let dot = zip(x, y).reduce(0) { $0 + $1.0 * $1.1 }
        switch kernel {
        case .linearKernel: return dot
        case .rbfKernel(let rbf): return exp(-rbf.gamma * zip(x, y).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) })
        case .polyKernel(let poly): return pow(poly.gamma * dot + poly.c, Double(poly.degree))
        case .sigmoidKernel(let sigmoid): return tanh(sigmoid.gamma * dot + sigmoid.c)
        }
    }

    static func sparse(_ vectors: [[Double]]) -> [SpecSparseVector] {
        vectors.map { values in
            var vector = SpecSparseVector()
            vector.nodes = values.enumerated().filter { $0.element != 0 }.map { index, value in
                var node = SpecSparseNode()
                (node.index, node.value) = (Int32(index + 1), value)
                return node
            }
            return vector
        }
    }

    static func dense(_ vectors: [[Double]]) -> [SpecDenseVector] {
        vectors.map { values in
            var vector = SpecDenseVector()
            vector.values = values
            return vector
        }
    }

    @Test(arguments: kernels.indices, [false, true])
    func regressor(kernel: Int, isSparse: Bool) throws {
        var noise = Noise(state: UInt64(kernel) + 5)
        let vectors = (0..<37).map { _ in (0..<11).map { _ in noise.index(3) == 0 ? 0 : noise.number() } }
        let alpha = noise.numbers(37)
        var parameters = SpecSupportVectorRegressor()
        parameters.kernel.kernel = Self.kernels[kernel]
        if isSparse {
            parameters.sparseSupportVectors.vectors = Self.sparse(vectors)
        } else {
            parameters.denseSupportVectors.vectors = Self.dense(vectors)
        }
        parameters.coefficients.alpha = alpha
        parameters.rho = 0.3
        let engine = try engine(
            model([("x", .array([11]))], [("y", .number)], predicts: "y", .supportVectorRegressor(parameters))
        )
        let rows = (0..<300).map { _ in noise.numbers(11) }
        let tensor = Tensor(values: rows.flatMap { $0 }, scalarType: .float64, shape: [300, 11])
        let answers = try engine.predictions(from: FeatureBatch(count: 300, columns: ["x": .arrays(tensor)]))
        for (index, row) in rows.enumerated() {
            let expected = zip(alpha, vectors).reduce(-0.3) {
                $0 + $1.0 * Self.compare(Self.kernels[kernel], row, $1.1)
            }
            #expect(isNear(answers.features(at: index)["y"]?.numbers ?? [], [expected], 1e-11))
        }
    }

    static func classifier(_ noise: inout Noise, _ counts: [Int], hasProbabilities: Bool) -> (SpecModel, [[Double]]) {
        let total = counts.reduce(0, +)
        let vectors = (0..<total).map { _ in noise.numbers(4) }
        let pairs = counts.count * (counts.count - 1) / 2
        var parameters = SpecSupportVectorClassifier()
        parameters.kernel.kernel = kernels[1]
        parameters.denseSupportVectors.vectors = dense(vectors)
        parameters.numberOfSupportVectorsPerClass = counts.map { Int32($0) }
        parameters.coefficients = (1..<counts.count).map { _ in
            var coefficients = SpecCoefficients()
            coefficients.alpha = noise.numbers(total)
            return coefficients
        }
        parameters.rho = noise.numbers(pairs)
        if hasProbabilities {
            parameters.probA = (0..<pairs).map { _ in -1 - noise.number() / 2 }
            parameters.probB = noise.numbers(pairs)
        }
        parameters.stringClassLabels.vector = counts.indices.map { "\($0)" }
        let whole = model(
            [("x", .array([4]))],
            [("label", .string), ("votes", .dictionary())],
            predicts: "label",
            probabilities: "votes",
            .supportVectorClassifier(parameters)
        )
        return (whole, vectors)
    }

    @Test(arguments: [[3, 5], [4, 2, 6], [1, 3, 2, 5]])
    func votesOfPairs(counts: [Int]) throws {
        var noise = Noise(state: 77)
        let (spec, vectors) = Self.classifier(&noise, counts, hasProbabilities: false)
        let parameters = spec.supportVectorClassifier
        let engine = try engine(spec)
        let starts = counts.indices.map { counts[..<$0].reduce(0, +) }
        for _ in 0..<100 {
            let x = noise.numbers(4)
            var votes = [Int](repeating: 0, count: counts.count)
            var pair = 0
            for i in counts.indices {
                for j in counts.indices where j > i {
                    var sum = -parameters.rho[pair]
                    for k in starts[i]..<starts[i] + counts[i] {
                        sum += parameters.coefficients[j - 1].alpha[k] * Self.compare(Self.kernels[1], x, vectors[k])
                    }
                    for k in starts[j]..<starts[j] + counts[j] {
                        sum += parameters.coefficients[i].alpha[k] * Self.compare(Self.kernels[1], x, vectors[k])
                    }
                    votes[sum > 0 ? i : j] += 1
                    pair += 1
                }
            }
            let expected = votes.firstIndex(of: votes.max() ?? 0) ?? 0
            #expect(try engine.prediction(from: ["x": array(x)])["label"]?.text == "\(expected)")
        }
    }

    /// The joined probabilities are where the pairs' sum of squares is least: no small step makes it smaller.
    @Test func joinedProbabilitiesAreTheMinimum() throws {
        var noise = Noise(state: 5)
        let (spec, vectors) = Self.classifier(&noise, [4, 2, 6], hasProbabilities: true)
        let parameters = spec.supportVectorClassifier
        let engine = try engine(spec)
        let starts = [0, 4, 6, 12]
        for _ in 0..<20 {
            let x = noise.numbers(4)
            let votes = try engine.prediction(from: ["x": array(x)])["votes"]?.votes ?? [:]
            let p = (0..<3).map { votes["\($0)"] ?? -1 }
            #expect(abs(p.reduce(0, +) - 1) < 1e-9 && p.allSatisfy { $0 > 0 })
            var r = [[Double]](repeating: [0, 0, 0], count: 3)
            var pair = 0
            for i in 0..<3 {
                for j in i + 1..<3 {
                    var sum = -parameters.rho[pair]
                    for k in starts[i]..<starts[i + 1] {
                        sum += parameters.coefficients[j - 1].alpha[k] * Self.compare(Self.kernels[1], x, vectors[k])
                    }
                    for k in starts[j]..<starts[j + 1] {
                        sum += parameters.coefficients[i].alpha[k] * Self.compare(Self.kernels[1], x, vectors[k])
                    }
                    r[i][j] = 1 / (1 + exp(parameters.probA[pair] * sum + parameters.probB[pair]))
                    r[j][i] = 1 - r[i][j]
                    pair += 1
                }
            }
            func loss(_ p: [Double]) -> Double {
                var total = 0.0
                for i in 0..<3 {
                    for j in 0..<3 where j != i {
                        let difference: Double = r[j][i] * p[i] - r[i][j] * p[j]
                        total += difference * difference
                    }
                }
                return total
            }
            for (i, j) in [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)] {
                var moved = p
                moved[i] += 0.01
                moved[j] -= 0.01
                #expect(loss(moved) > loss(p) - 1e-6)
            }
        }
    }

    /// LIBSVM bounds the probability of a decision that is no number from below.
    @Test func decisionThatIsNoNumberIsImprobable() throws {
        var noise = Noise(state: 9)
        var (spec, _) = Self.classifier(&noise, [2, 3], hasProbabilities: true)
        spec.supportVectorClassifier.rho = [.nan]
        let votes = try engine(spec).prediction(from: ["x": array(noise.numbers(4))])["votes"]?.votes
        #expect(votes == ["0": 1e-7, "1": 1 - 1e-7])
    }

    @Test func damagedMachinesAreNamed() {
        var noise = Noise(state: 1)
        let (good, _) = Self.classifier(&noise, [2, 3, 1], hasProbabilities: true)
        func found(_ change: (inout SpecSupportVectorClassifier) -> Void) -> String {
            var parameters = good.supportVectorClassifier
            change(&parameters)
            var copy = good
            copy.supportVectorClassifier = parameters
            return message { () throws(ModelError) in try engine(copy) }
        }
        #expect(found { _ in }.isEmpty)
        #expect(found { $0.coefficients.removeLast() }.contains("need 2 rows"))
        #expect(found { $0.coefficients[1].alpha.removeLast() }.contains("row 1"))
        #expect(found { $0.numberOfSupportVectorsPerClass[0] = 9 }.contains("per class"))
        #expect(found { $0.numberOfSupportVectorsPerClass[0] = -2 }.contains("per class"))
        #expect(found { $0.rho.removeLast() }.contains("rho"))
        #expect(found { $0.probA.removeLast() }.contains("probA"))
        #expect(found { $0.denseSupportVectors.vectors[1].values.removeLast() }.contains("vector 1"))
        #expect(found { $0.sparseSupportVectors.vectors = Self.sparse([[0, 0, 0, 0, 1]]) }.contains("element 5"))
        #expect(found { $0.clearKernel() }.contains("kernel"))
        #expect(found { $0.supportVectors = nil }.contains("no support vectors"))
        #expect(found { $0.stringClassLabels.vector = ["only"] }.contains("1 classes"))
    }
}
