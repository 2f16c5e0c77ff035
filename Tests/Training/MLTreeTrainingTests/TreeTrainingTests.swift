import MLFeatures
import MLKernels
import MLModels
import MLNumerics
import MLSpecification
import MLTrainingCore
import MLTreeTraining
import Testing

/// Numbers from a generator of the tests' own (Lehmer), so that data is the same everywhere.
private struct Noise {
    var state: UInt64
    mutating func number() -> Float {
        state = state &* 48271 % 2_147_483_647
        return Float(Double(state) / 2_147_483_647)
    }
}

private func table(_ noise: inout Noise, rows: Int, columns: Int, missing: Float = 0, levels: Float = 0) -> [[Float]] {
    (0..<columns).map { _ in
        (0..<rows).map { _ in
            let value = noise.number()
            let rounded = levels > 0 ? (value * levels).rounded() : value
            return noise.number() < missing ? .nan : rounded
        }
    }
}

@Suite struct TreeTrainingTests {
    /// The best single split found by trying all of them, in the plainest way.
    private static func bestSplit(
        _ columns: [[Float]],
        _ gradients: [(Double, Double)],
        minChildWeight: Double
    ) -> Double {
        func score(_ g: Double, _ h: Double) -> Double { g * g / (h + 1) }
        let total = gradients.reduce((0.0, 0.0)) { ($0.0 + $1.0, $0.1 + $1.1) }
        var best = 0.0
        for column in columns {
            for threshold in Set(column.filter { !$0.isNaN }) {
                for missingGoesLeft in [true, false] {
                    var left = (0.0, 0.0)
                    for (row, value) in column.enumerated()
                    where value.isNaN ? missingGoesLeft : value < threshold {
                        left = (left.0 + gradients[row].0, left.1 + gradients[row].1)
                    }
                    let right = (total.0 - left.0, total.1 - left.1)
                    guard left.1 >= minChildWeight, right.1 >= minChildWeight else { continue }
                    best = max(best, score(left.0, left.1) + score(right.0, right.1) - score(total.0, total.1))
                }
            }
        }
        return best
    }

    @Test(arguments: [Float(0), 0.2], [TreeTrainingSettings.Method.exact, .refined(bins: 255), .histogram(bins: 255)])
    func rootTakesTheBestSplit(missing: Float, method: TreeTrainingSettings.Method) throws {
        var noise = Noise(state: 17)
        for _ in 0..<10 {
            let columns = table(&noise, rows: 60, columns: 4, missing: missing, levels: 12)
            let targets = (0..<60).map { _ in noise.number() * 4 }
            var settings = TreeTrainingSettings()
            settings.maxDepth = 1
            settings.method = method
            settings.minChildWeight = 2
            var trainer = try TreeTrainer(
                TreeTrainingTable(columns: columns),
                targets: targets,
                objective: .squaredError,
                settings: settings
            )
            trainer.step()
            let expected = Self.bestSplit(columns, targets.map { (0.5 - Double($0), 1) }, minChildWeight: 2)
            let root = trainer.trees[0].nodes[0]
            #expect(!root.isLeaf)
            #expect(abs(Double(root.gain) - expected) < 1e-4 * expected)
            // A leaf is the negative gradient sum over its curvature, times the step.
            for (row, target) in targets.enumerated() where columns[Int(root.feature)][row] < root.threshold {
                _ = target
                let members = targets.indices.filter {
                    let value = columns[Int(root.feature)][$0]
                    return value.isNaN ? root.missingGoesLeft : value < root.threshold
                }
                let sum = members.reduce(0.0) { $0 + Double(targets[$1]) - 0.5 }
                let leaf = Double(trainer.trees[0].nodes[Int(root.left)].value)
                #expect(abs(leaf - 0.3 * sum / (Double(members.count) + 1)) < 1e-5)
                break
            }
        }
    }

    /// With no more values than bins both methods see the same boundaries.
    @Test(arguments: [TreeObjective.squaredError, .logistic, .softmax(classes: 3)])
    func methodsAgreeOnFewValues(objective: TreeObjective) throws {
        var noise = Noise(state: 5)
        let columns = table(&noise, rows: 700, columns: 6, missing: 0.1, levels: 20)
        let targets: [Float] = (0..<700).map { row in
            let sum = columns[0][row] + columns[1][row] * (columns[2][row] > 9 ? 1 : -1) + noise.number() * 8
            guard sum.isFinite else { return 0 }
            switch objective {
            case .squaredError: return sum
            case .logistic: return sum > 12 ? 1 : 0
            case .softmax: return sum > 18 ? 2 : sum > 6 ? 1 : 0
            }
        }
        var results: [[Float]] = []
        for method in [TreeTrainingSettings.Method.exact, .refined(bins: 255), .histogram(bins: 255)] {
            var settings = TreeTrainingSettings()
            settings.method = method
            let table = try TreeTrainingTable(columns: columns)
            var trainer = try TreeTrainer(table, targets: targets, objective: objective, settings: settings)
            let before = objective.loss(sums: trainer.sums, targets: targets)
            for _ in 0..<5 { trainer.step() }
            #expect(objective.loss(sums: trainer.sums, targets: targets) < 0.8 * before)
            // The sums kept while growing are those of the trees.
            var again = [Float](repeating: objective.baseScore, count: trainer.sums.count)
            for (index, tree) in trainer.trees.enumerated() {
                tree.add(
                    to: &again,
                    of: table,
                    output: index % objective.outputCount,
                    stride: objective.outputCount
                )
            }
            #expect(again == trainer.sums)
            results.append(trainer.sums)
        }
        for result in results.dropFirst() {
            let farthest = zip(results[0], result).map { abs($0 - $1) }.max() ?? 0
            #expect(farthest < 1e-3 * (results[0].map(abs).max() ?? 0))
        }
    }

    /// Refined trees ask the same questions as exact ones: every threshold, way of missing values and leaf, in columns of
    /// many values, of few, of one that most examples have, with weights, and with far fewer bins than values.
    @Test(
        arguments: [TreeObjective.squaredError, .logistic, .softmax(classes: 3)],
        [(bins: 255, missing: Float(0)), (bins: 255, missing: 0.1), (bins: 7, missing: 0), (bins: 7, missing: 0.1)]
    )
    func refinedTreesAreTheExactOnes(objective: TreeObjective, table shape: (bins: Int, missing: Float)) throws {
        var noise = Noise(state: 2024)
        let rows = 6000
        var columns = table(&noise, rows: rows, columns: 4, missing: shape.missing)
        columns += table(&noise, rows: rows, columns: 2, missing: shape.missing, levels: 9)
        columns += table(&noise, rows: rows, columns: 2).map { column in column.map { $0 < 0.7 ? 0 : $0 - 0.8 } }
        columns.append([Float](repeating: 3, count: rows))
        columns.append([Float](repeating: .nan, count: rows))
        let targets: [Float] = (0..<rows).map { row in
            let parts = [columns[0][row] * 4, columns[1][row] * columns[4][row], columns[6][row] * 5]
            let sum = parts.reduce(0) { $0 + ($1.isNaN ? 1 : $1) } + noise.number() * 3
            switch objective {
            case .squaredError: return sum
            case .logistic: return sum > 6 ? 1 : 0
            case .softmax: return sum > 8 ? 2 : sum > 4 ? 1 : 0
            }
        }
        let weights = (0..<rows).map { _ in 0.5 + noise.number() }
        for isWeighted in [false, true] {
            var grown: [[RegressionTree]] = []
            for method in [TreeTrainingSettings.Method.exact, .refined(bins: shape.bins)] {
                var settings = TreeTrainingSettings()
                settings.method = method
                settings.maxDepth = 7
                settings.rowSubsample = 0.9
                settings.columnSubsample = 0.8
                var trainer = try TreeTrainer(
                    TreeTrainingTable(columns: columns),
                    targets: targets,
                    weights: isWeighted ? weights : nil,
                    objective: objective,
                    settings: settings
                )
                for _ in 0..<3 { trainer.step() }
                grown.append(trainer.trees)
            }
            #expect(grown[0].allSatisfy { $0.nodes.count > 60 })
            for (exact, refined) in zip(grown[0], grown[1]) {
                #expect(exact.nodes.count == refined.nodes.count)
                for (one, other) in zip(exact.nodes, refined.nodes) {
                    #expect(one.feature == other.feature && one.threshold == other.threshold)
                    #expect(one.left == other.left && one.missingGoesLeft == other.missingGoesLeft)
                    #expect(abs(one.value - other.value) <= 1e-5 * max(1, abs(one.value)))
                    #expect(abs(one.gain - other.gain) <= 1e-4 * max(1, abs(one.gain)))
                }
            }
        }
    }

    /// Nodes of few examples have no histograms: trees that end in them are as large, and fit as well.
    @Test func deepTreesFitAsExactOnes() throws {
        var noise = Noise(state: 4)
        let columns = table(&noise, rows: 1500, columns: 3)
        let targets = (0..<1500).map { columns[0][$0] + columns[1][$0] * noise.number() }
        var losses: [Double] = []
        var nodes: [Int] = []
        for method in [TreeTrainingSettings.Method.exact, .refined(bins: 32), .histogram(bins: 32)] {
            var settings = TreeTrainingSettings()
            settings.method = method
            settings.maxDepth = 14
            settings.stepSize = 1
            var trainer = try TreeTrainer(
                TreeTrainingTable(columns: columns),
                targets: targets,
                objective: .squaredError,
                settings: settings
            )
            trainer.step()
            losses.append(TreeObjective.squaredError.loss(sums: trainer.sums, targets: targets))
            nodes.append(trainer.trees[0].nodes.count)
        }
        #expect(nodes[0] > 300 && nodes[1] == nodes[0] && nodes[2] > 300)
        #expect(abs(losses[1] - losses[0]) < 1e-4 * losses[0])
        #expect(losses[2] < 1.5 * losses[0])
    }

    @Test(arguments: [TreeTrainingSettings.Method.exact, .refined(bins: 64), .histogram(bins: 64)])
    func threadsDoNotMatter(method: TreeTrainingSettings.Method) throws {
        var noise = Noise(state: 99)
        let columns = table(&noise, rows: 3000, columns: 7, missing: 0.05)
        let targets = (0..<3000).map { row in (columns[0][row].isNaN ? 0 : columns[0][row] * 5) + noise.number() }
        var grown: [[RegressionTree]] = []
        for threads in [1, 2, 3] {
            Workers.limit(to: threads)
            defer { Workers.limit(to: 0) }
            var settings = TreeTrainingSettings()
            settings.method = method
            settings.rowSubsample = 0.7
            settings.columnSubsample = 0.6
            var trainer = try TreeTrainer(
                TreeTrainingTable(columns: columns),
                targets: targets,
                objective: .squaredError,
                settings: settings
            )
            for _ in 0..<3 { trainer.step() }
            grown.append(trainer.trees)
        }
        #expect(grown[0] == grown[1] && grown[1] == grown[2])
    }

    @Test func forestIsTheMeanOfItsTrees() throws {
        var noise = Noise(state: 3)
        let columns = table(&noise, rows: 400, columns: 5)
        let targets = (0..<400).map { columns[1][$0] * 3 + noise.number() }
        var settings = TreeTrainingSettings()
        settings.rowSubsample = 0.8
        settings.columnSubsample = 0.8
        settings.stepSize = 1
        let table = try TreeTrainingTable(columns: columns)
        var forest = try TreeTrainer(table, targets: targets, objective: .squaredError, settings: settings)
        forest.growForest(8)
        #expect(forest.trees.count == 8 && Set(forest.trees).count == 8)
        #expect(forest.sums.reduce(0, +) / 400 > 1 && forest.sums.allSatisfy { $0 > 0 && $0 < 4.5 })
    }

    @Test func resumedTrainingIsTheSame() throws {
        var noise = Noise(state: 31)
        let columns = table(&noise, rows: 500, columns: 4)
        let targets = (0..<500).map { columns[2][$0] > 0.5 ? Float(1) : noise.number() > 0.8 ? 1 : 0 }
        var settings = TreeTrainingSettings()
        settings.rowSubsample = 0.5
        let table = try TreeTrainingTable(columns: columns)
        var whole = try TreeTrainer(table, targets: targets, objective: .logistic, settings: settings)
        whole.step()
        whole.step()
        let state = whole.state
        for _ in 0..<4 { whole.step() }
        var resumed = try TreeTrainer(table, targets: targets, objective: .logistic, settings: settings)
        resumed.step()
        try resumed.restore(state)
        #expect(resumed.state == state && resumed.iteration == 2)
        for _ in 0..<4 { resumed.step() }
        #expect(resumed.trees == whole.trees && resumed.state == whole.state)
        // Damaged states are refused, and leave the trainer as it was.
        for count in [0, 7, 8, 20, state.count / 2, state.count - 1] {
            #expect(throws: ModelError.self) { try resumed.restore(Array(state.prefix(count))) }
        }
        #expect(throws: ModelError.self) { try resumed.restore(state + [0]) }
        var looping = whole.trees[0]
        looping.nodes[Int(looping.nodes[0].left)] = looping.nodes[0]
        #expect(throws: ModelError.self) { try resumed.restore(Self.state(of: looping)) }
        #expect(resumed.trees == whole.trees)
    }

    /// The bytes of a list of one tree, as checkpoints have had them from the start.
    private static func state(of tree: RegressionTree) -> [UInt8] {
        var bytes: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0]
        func append<Value>(_ values: [Value]) {
            withUnsafeBytes(of: UInt64(values.count).littleEndian) { bytes += $0 }
            values.withUnsafeBytes { bytes += $0 }
        }
        append(tree.nodes.map(\.feature))
        append(tree.nodes.map(\.threshold))
        append(tree.nodes.map(\.left))
        append(tree.nodes.map(\.right))
        append(tree.nodes.map { UInt8($0.missingGoesLeft ? 1 : 0) })
        append(tree.nodes.map(\.value))
        append(tree.nodes.map(\.gain))
        return bytes
    }

    @Test func statesAreTheTreesAndTrainingEndsAtItsLimit() throws {
        var noise = Noise(state: 53)
        let columns = table(&noise, rows: 100, columns: 3)
        let targets = (0..<100).map { columns[0][$0] + noise.number() }
        var settings = TreeTrainingSettings()
        settings.maxIterations = 3
        settings.rowSubsample = 0.7
        let table = try TreeTrainingTable(columns: columns)
        for ensemble in [TreeTrainingSettings.Ensemble.boosted, .forest] {
            settings.ensemble = ensemble
            var trainer = try TreeTrainer(table, targets: targets, objective: .squaredError, settings: settings)
            trainer.step()
            #expect(trainer.state == Self.state(of: trainer.trees[0]))
            try trainer.train { false }
            #expect(trainer.isFinished && trainer.iteration == 3 && trainer.trees.count == 3)
            trainer.step()
            #expect(trainer.trees.count == 3)
        }
    }

    /// Splits that gain less are taken back from the leaves up.
    @Test func prunesWhatGainsTooLittle() throws {
        var noise = Noise(state: 77)
        let columns = table(&noise, rows: 300, columns: 3)
        let targets = (0..<300).map { columns[0][$0] * 2 + noise.number() * 0.1 }
        let table = try TreeTrainingTable(columns: columns)
        var settings = TreeTrainingSettings()
        var sizes: [Int] = []
        for least in [0, 0.5, 5, 1e6] {
            settings.minLossReduction = least
            var trainer = try TreeTrainer(table, targets: targets, objective: .squaredError, settings: settings)
            trainer.step()
            sizes.append(trainer.trees[0].nodes.count)
            for node in trainer.trees[0].nodes where !node.isLeaf {
                let children = [node.left, node.right].map { trainer.trees[0].nodes[Int($0)] }
                #expect(Double(node.gain) >= least || !children.allSatisfy(\.isLeaf))
            }
        }
        #expect(sizes == sizes.sorted(by: >) && sizes.last == 1)
    }

    /// The file's trees give the sums that training kept.
    @Test(arguments: [TreeObjective.squaredError, .softmax(classes: 4)])
    func specificationPredictsTheSame(objective: TreeObjective) throws {
        var noise = Noise(state: 8)
        let columns = table(&noise, rows: 200, columns: 5, missing: 0.1)
        let targets = (0..<200).map { _ in objective == .squaredError ? noise.number() : (noise.number() * 3).rounded()
        }
        var trainer = try TreeTrainer(
            TreeTrainingTable(columns: columns),
            targets: targets,
            objective: objective
        )
        for _ in 0..<3 { trainer.step() }
        var regressor = SpecTreeEnsembleRegressor()
        regressor.treeEnsemble = trainer.parameters
        var description = SpecModelDescription()
        var input = SpecFeatureDescription()
        input.name = "x"
        input.type.multiArrayType.shape = [5]
        input.type.multiArrayType.dataType = .double
        var output = SpecFeatureDescription()
        output.name = "y"
        output.type.multiArrayType.shape = [Int64(objective.outputCount)]
        output.type.multiArrayType.dataType = .double
        if objective.outputCount == 1 { output.type.doubleType = SpecDoubleFeatureType() }
        description.input = [input]
        description.output = [output]
        description.predictedFeatureName = "y"
        let engine = try TreeEnsembleRegressor(regressor, description)
        for row in 0..<200 {
            let x = Tensor(values: columns.map { Double($0[row]) }, scalarType: .float64, shape: [5])
            let answer = try engine.prediction(from: ["x": .tensor(x)])["y"]
            let values: [Double] =
                switch answer {
                case .double(let value)?: [value]
                case .tensor(let tensor)?: tensor.values
                default: []
                }
            #expect(values.count == objective.outputCount)
            for (index, value) in values.enumerated() {
                #expect(abs(value - Double(trainer.sums[row * objective.outputCount + index])) < 1e-5)
            }
        }
    }

    @Test func unusableInputIsNamed() {
        func message(_ body: () throws(ModelError) -> Void) -> String {
            do { try body() } catch { return error.description }
            return ""
        }
        #expect(message { () throws(ModelError) in _ = try TreeTrainingTable(columns: []) }.contains("no examples"))
        #expect(
            message { () throws(ModelError) in _ = try TreeTrainingTable(columns: [[1, 2], [1]]) }.contains("column 1")
        )
        #expect(
            message { () throws(ModelError) in _ = try TreeTrainingTable(columns: [[1, .infinity]]) }.contains("row 1")
        )
        func train(
            _ targets: [Float],
            _ objective: TreeObjective = .squaredError,
            weights: [Float]? = nil,
            _ change: (inout TreeTrainingSettings) -> Void = { _ in }
        ) -> String {
            message { () throws(ModelError) in
                var settings = TreeTrainingSettings()
                change(&settings)
                _ = try TreeTrainer(
                    try TreeTrainingTable(columns: [[1, 2, 3]]),
                    targets: targets,
                    weights: weights,
                    objective: objective,
                    settings: settings
                )
            }
        }
        #expect(train([1, 2, 3]).isEmpty)
        #expect(train([1, 2]).contains("2 targets for 3"))
        #expect(train([1, .nan, 2]).contains("row 1"))
        #expect(train([0, 1, 2], .logistic).contains("row 2"))
        #expect(train([0, 0, 0], .softmax(classes: 1)).contains("at least two"))
        #expect(train([1, 2, 3], weights: [1, 0, 1]).contains("weight of row 1"))
        #expect(train([1, 2, 3]) { $0.maxDepth = 0 }.contains("maxDepth"))
        #expect(train([1, 2, 3]) { $0.stepSize = .nan }.contains("stepSize"))
        #expect(train([1, 2, 3]) { $0.method = .histogram(bins: 300) }.contains("bins"))
        #expect(train([1, 2, 3]) { $0.method = .refined(bins: 1) }.contains("bins"))
        #expect(train([1, 2, 3]) { $0.lambda = -1 }.contains("lambda"))
    }
}
