import Glibc
import MLFeatures
import MLModels
import MLNumerics
import MLSpecification
import Testing

/// Trees against a walk over the specification's nodes.
struct TreeTests {
    typealias Node = SpecTreeEnsembleParameters.TreeNode

    static func leaf(_ tree: UInt64, _ id: UInt64, _ values: [(Int, Double)]) -> Node {
        var node = Node()
        (node.treeID, node.nodeID, node.nodeBehavior) = (tree, id, .leafNode)
        node.evaluationInfo = values.map { index, value in
            var info = Node.EvaluationInfo()
            (info.evaluationIndex, info.evaluationValue) = (UInt64(index), value)
            return info
        }
        return node
    }

    static func branch(
        _ tree: UInt64,
        _ id: UInt64,
        _ behavior: Node.TreeNodeBehavior,
        _ feature: Int,
        _ value: Double,
        _ yes: UInt64,
        _ no: UInt64,
        missing: Bool = false
    ) -> Node {
        var node = Node()
        (node.treeID, node.nodeID, node.nodeBehavior) = (tree, id, behavior)
        (node.branchFeatureIndex, node.branchFeatureValue) = (UInt64(feature), value)
        (node.trueChildNodeID, node.falseChildNodeID) = (yes, no)
        node.missingValueTracksTrueChild = missing
        return node
    }

    /// Random trees over values of a coarse grid, so that comparisons meet equal values.
    static func random(
        _ noise: inout Noise,
        trees: Int,
        depth: Int,
        features: Int,
        outputs: Int,
        behaviors: [Node.TreeNodeBehavior],
        isDense: Bool
    ) -> SpecTreeEnsembleParameters {
        var parameters = SpecTreeEnsembleParameters()
        parameters.numPredictionDimensions = UInt64(outputs)
        parameters.basePredictionValue = noise.numbers(outputs)
        for tree in 0..<trees {
            var pending: [(id: UInt64, level: Int)] = [(UInt64(noise.index(5)), 0)]
            var next: UInt64 = 10
            while let (id, level) = pending.popLast() {
                if level == depth || (level > 0 && noise.index(6) == 0) {
                    let values =
                        isDense
                        ? (0..<outputs).map { ($0, noise.number()) } : [(tree % outputs, noise.number())]
                    parameters.nodes.append(leaf(UInt64(tree), id, values))
                    continue
                }
                let behavior = behaviors[noise.index(behaviors.count)]
                let value = Double(noise.index(9)) / 4 - 1
                parameters.nodes.append(
                    branch(
                        UInt64(tree),
                        id,
                        behavior,
                        noise.index(features),
                        value,
                        next,
                        next + 1,
                        missing: noise.index(2) == 0
                    )
                )
                pending += [(next, level + 1), (next + 1, level + 1)]
                next += 2
            }
        }
        for index in parameters.nodes.indices { parameters.nodes.swapAt(index, noise.index(parameters.nodes.count)) }
        return parameters
    }

    /// The specification's rules, node by node.
    struct Reference {
        private let base: [Double]
        private var trees: [(root: Node, nodes: [UInt64: Node])] = []

        init(_ parameters: SpecTreeEnsembleParameters) {
            base = parameters.basePredictionValue
            for (_, nodes) in Dictionary(grouping: parameters.nodes, by: \.treeID).sorted(by: { $0.key < $1.key }) {
                let byID = Dictionary(uniqueKeysWithValues: nodes.map { ($0.nodeID, $0) })
                let branches = nodes.filter { $0.nodeBehavior != .leafNode }
                let children = Set(branches.flatMap { [$0.trueChildNodeID, $0.falseChildNodeID] })
                guard let root = nodes.first(where: { !children.contains($0.nodeID) }) else { continue }
                trees.append((root, byID))
            }
        }

        func sums(_ x: [Double]) -> [Double] {
            var sums = base
            for tree in trees {
                var node: Node? = tree.root
                while let current = node, current.nodeBehavior != .leafNode {
                    let (value, threshold) = (x[Int(current.branchFeatureIndex)], current.branchFeatureValue)
                    let isTrue: Bool
                    switch current.nodeBehavior {
                    case _ where value.isNaN: isTrue = current.missingValueTracksTrueChild
                    case .branchOnValueLessThanEqual: isTrue = value <= threshold
                    case .branchOnValueLessThan: isTrue = value < threshold
                    case .branchOnValueGreaterThanEqual: isTrue = value >= threshold
                    case .branchOnValueGreaterThan: isTrue = value > threshold
                    case .branchOnValueEqual: isTrue = value == threshold
                    default: isTrue = value != threshold
                    }
                    node = tree.nodes[isTrue ? current.trueChildNodeID : current.falseChildNodeID]
                }
                for info in node?.evaluationInfo ?? [] { sums[Int(info.evaluationIndex)] += info.evaluationValue }
            }
            return sums
        }
    }

    static func regressor(_ parameters: SpecTreeEnsembleParameters, features: Int) -> SpecModel {
        var regressor = SpecTreeEnsembleRegressor()
        regressor.treeEnsemble = parameters
        let outputs = Int(parameters.numPredictionDimensions)
        return model(
            [("x", .array([features]))],
            [("y", outputs == 1 ? .number : .array([outputs]))],
            predicts: "y",
            .treeEnsembleRegressor(regressor)
        )
    }

    static let ordered: [Node.TreeNodeBehavior] = [
        .branchOnValueLessThanEqual, .branchOnValueLessThan, .branchOnValueGreaterThanEqual, .branchOnValueGreaterThan,
    ]

    @Test(arguments: [(3, 1, false), (6, 3, true), (6, 3, false), (11, 1, false)], [false, true])
    func allNodeKinds(shape: (depth: Int, outputs: Int, isDense: Bool), withEquality: Bool) throws {
        var noise = Noise(state: UInt64(shape.depth * 10 + shape.outputs))
        let behaviors = withEquality ? Self.ordered + [.branchOnValueEqual, .branchOnValueNotEqual] : Self.ordered
        let parameters = Self.random(
            &noise,
            trees: 21,
            depth: shape.depth,
            features: 4,
            outputs: shape.outputs,
            behaviors: behaviors,
            isDense: shape.isDense
        )
        let engine = try engine(Self.regressor(parameters, features: 4))
        let reference = Reference(parameters)
        for missing in [0, 5] {
            let rows = (0..<290).map { _ in
                (0..<4).map { _ in
                    missing > 0 && noise.index(missing) == 0 ? Double.nan : Double(noise.index(17)) / 8 - 1
                }
            }
            let batch = Tensor(values: rows.flatMap { $0 }, scalarType: .float64, shape: [rows.count, 4])
            let answers = try engine.predictions(from: FeatureBatch(count: rows.count, columns: ["x": .arrays(batch)]))
            for (index, row) in rows.enumerated() {
                let expected = reference.sums(row)
                #expect(isNear(answers.features(at: index)["y"]?.numbers ?? [], expected))
                if index % 50 == 0 {
                    #expect(isNear(try engine.prediction(from: ["x": array(row)])["y"]?.numbers ?? [], expected))
                }
            }
        }
    }

    /// Votes of one half in all: scikit-learn's forests, whose scores are sums, give the first label, all others the
    /// second.
    @Test(arguments: [2, 6, 10, 100, 998])
    func equalVotesOfAForest(_ trees: Int) throws {
        func label(_ share: Double, _ transform: SpecTreeEnsemblePostEvaluationTransform, base: Double) throws -> String
        {
            var classifier = SpecTreeEnsembleClassifier()
            classifier.treeEnsemble.numPredictionDimensions = 1
            classifier.treeEnsemble.basePredictionValue = [base]
            classifier.treeEnsemble.nodes = (0..<trees).map {
                Self.leaf(UInt64($0), 0, [(0, Double($0) < share * Double(trees) ? 1 / Double(trees) : 0)])
            }
            classifier.postEvaluationTransform = transform
            classifier.int64ClassLabels.vector = [7, 3]
            let engine = try engine(
                model(
                    [("x", .number)],
                    [("label", .integer), ("votes", .dictionary(isInteger: true))],
                    predicts: "label",
                    probabilities: "votes",
                    .treeEnsembleClassifier(classifier)
                )
            )
            guard case .int64(let label)? = try engine.prediction(from: ["x": .double(0)])["label"] else { return "" }
            return "\(label)"
        }
        #expect(try label(0.5, .noTransform, base: 0) == "7")
        #expect(try label(0.5 + 1 / Double(trees), .noTransform, base: 0) == "3")
        #expect(try label(0.5 - 1 / Double(trees), .noTransform, base: 0) == "7")
        #expect(try label(0, .noTransform, base: 0.5) == "3")
        #expect(try label(0, .regressionLogistic, base: 0) == "3")
    }

    @Test func classifierTransforms() throws {
        func answer(
            _ dimensions: Int,
            _ sums: [Double],
            _ transform: SpecTreeEnsemblePostEvaluationTransform,
            _ labels: Int
        )
            throws -> (String, [Double])
        {
            var classifier = SpecTreeEnsembleClassifier()
            classifier.treeEnsemble.numPredictionDimensions = UInt64(dimensions)
            classifier.treeEnsemble.basePredictionValue = sums
            classifier.treeEnsemble.nodes = [Self.leaf(0, 0, [(0, 0)])]
            classifier.postEvaluationTransform = transform
            classifier.stringClassLabels.vector = (0..<labels).map { "\($0)" }
            let engine = try engine(
                model(
                    [("x", .number)],
                    [("label", .string), ("votes", .dictionary())],
                    predicts: "label",
                    probabilities: "votes",
                    .treeEnsembleClassifier(classifier)
                )
            )
            let outputs = try engine.prediction(from: ["x": .double(0)])
            return (outputs["label"]?.text ?? "", (0..<labels).map { outputs["votes"]?.votes["\($0)"] ?? -1 })
        }
        let e = exp(1.0)
        #expect(try answer(1, [0.5], .noTransform, 2) == ("1", [0.5, 0.5]))
        #expect(try answer(1, [0.4999], .noTransform, 2).0 == "0")
        #expect(isNear(try answer(1, [1], .regressionLogistic, 2).1, [1 / (1 + e), e / (1 + e)]))
        #expect(isNear(try answer(2, [0, 1], .classificationSoftMax, 2).1, [1 / (1 + e), e / (1 + e)]))
        #expect(isNear(try answer(3, [1, 1, 2], .classificationSoftMax, 3).1, [1, 1, e].map { $0 / (2 + e) }))
        #expect(
            isNear(
                try answer(2, [0, 1], .classificationSoftMaxWithZeroClassReference, 3).1,
                [1, 1, e].map { $0 / (2 + e) }
            )
        )
        #expect(
            message { () throws(ModelError) in
                do { _ = try answer(2, [0, 1], .noTransform, 3) } catch let error as ModelError { throw error } catch {}
            }.contains("2 prediction dimensions for 3")
        )
    }

    @Test func damagedTreesAreNamed() {
        let leaf = Self.leaf(7, 1, [(0, 1)])
        let other = Self.leaf(7, 2, [(0, 2)])
        func split(_ yes: UInt64, _ no: UInt64, _ id: UInt64 = 0) -> Node {
            Self.branch(7, id, .branchOnValueLessThan, 0, 0, yes, no)
        }
        let cases: [([Node], String)] = [
            ([split(1, 2), leaf], "child 2, which is missing"),
            ([split(0, 1), leaf], "its own child"),
            ([split(1, 1), leaf], "two branches"),
            ([leaf, other], "2 roots"),
            ([split(1, 2), leaf, other, other], "twice"),
            ([split(1, 3), split(0, 2, 3), leaf, other], "no root"),
            ([leaf, split(4, 2, 3), split(3, 5, 4), other, Self.leaf(7, 5, [(0, 0)])], "reached"),
            ([Self.leaf(7, 1, [])], "no value"),
            ([Self.leaf(7, 1, [(1, 1)])], "dimension 1"),
            ([Self.leaf(7, 1, [(0, 1), (0, 2)])], "twice to the same"),
            ([Self.branch(7, 0, .branchOnValueLessThan, 3, 0, 1, 2), leaf, other], "feature 3"),
            ([Self.branch(7, 0, .UNRECOGNIZED(9), 0, 0, 1, 2), leaf, other], "behaviour 9"),
        ]
        for (nodes, text) in cases {
            var parameters = SpecTreeEnsembleParameters()
            parameters.numPredictionDimensions = 1
            parameters.basePredictionValue = [0]
            parameters.nodes = nodes
            let found = message { () throws(ModelError) in try engine(Self.regressor(parameters, features: 2)) }
            #expect(found.contains(text), "\(found)")
        }
        var parameters = SpecTreeEnsembleParameters()
        parameters.nodes = [leaf]
        #expect(
            message { () throws(ModelError) in try engine(Self.regressor(parameters, features: 1)) }.contains(
                "0 prediction"
            )
        )
        parameters.numPredictionDimensions = 1
        parameters.basePredictionValue = [1, 2]
        #expect(
            message { () throws(ModelError) in try engine(Self.regressor(parameters, features: 1)) }.contains("2 base")
        )
    }
}
