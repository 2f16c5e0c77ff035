import MLFeatures
import MLSpecification
import MLTreeTraining

/// Boosted trees that were grown elsewhere, on several machines, with the columns that they were grown on.
package struct GrownTrees: Decodable, Sendable {
    /// A column of numbers, or of texts with its categories, each of which is a column of 0 and 1 for the trees.
    package struct Feature: Decodable, Sendable {
        var name: String
        /// In the order of their columns; `nil` for numbers.
        var categories: [String]?
    }

    /// A tree, with one element for each node in every list; the root is the first, and children follow their parents.
    package struct Tree: Decodable, Sendable {
        /// The columns that are tested; -1 for leaves.
        var features: [Int32]
        /// Examples whose value is less than this go left.
        var thresholds: [Float]
        var lefts: [Int32]
        var rights: [Int32]
        /// Whether examples without a value go left.
        var missingGoesLeft: [Bool]
        /// The values that leaves add to the score.
        var values: [Float]
    }

    var target: String
    /// The classes, for a classifier of texts.
    var textLabels: [String]?
    /// The classes, for a classifier of integers.
    var integerLabels: [Int64]?
    var features: [Feature]
    /// Round by round; of several classes a tree for each, in their order, of two one tree, for the second.
    var trees: [Tree]
}

extension TrainedTable {
    /// The model of trees that were grown elsewhere; it has no metrics.
    /// - Throws: `MLCreateError.generic` for trees that are none over these columns.
    package init(_ grown: GrownTrees) throws {
        let layout = FeatureLayout(grown.features)
        let labels = LabelList(texts: grown.textLabels, integers: grown.integerLabels)
        let objective = TreeObjective(classes: labels?.count)
        let count = grown.trees.count
        guard labels?.count ?? 2 > 1, count > 0, count.isMultiple(of: objective.outputCount) else {
            throw MLCreateError.generic(
                reason:
                    "there are \(count) trees for \(labels?.count ?? 0) classes, which is not a whole number of rounds"
            )
        }
        let trees = try grown.trees.map { try RegressionTree($0, columns: layout.width) }
        let pipeline = TabularPipeline(layout: layout, target: grown.target, labels: labels)
        try self.init(loading: pipeline.model(TreeLearner.predictor(of: trees, objective, labels)).marked)
    }
}

extension FeatureLayout {
    /// The layout of columns that a model was learned on elsewhere.
    init(_ features: [GrownTrees.Feature]) {
        self.init(
            features: features.map { Feature(name: $0.name, kind: $0.categories.map { .categories($0) } ?? .number) }
        )
    }
}

extension LabelList {
    /// The classes of a model that was learned elsewhere; `nil` for one of numbers.
    init?(texts: [String]?, integers: [Int64]?) {
        if let texts {
            self = .strings(texts)
        } else if let integers {
            self = .integers(integers)
        } else {
            return nil
        }
    }
}

extension RegressionTree {
    /// Checks and takes the nodes of a tree over so many columns.
    fileprivate init(_ grown: GrownTrees.Tree, columns: Int) throws {
        let count = grown.features.count
        func refuse(_ what: String) -> MLCreateError { .generic(reason: "a tree that was grown elsewhere \(what)") }
        guard count > 0,
            [
                grown.thresholds.count, grown.lefts.count, grown.rights.count, grown.missingGoesLeft.count,
                grown.values.count,
            ]
            .allSatisfy({ $0 == count })
        else { throw refuse("has lists of different lengths") }
        self.init()
        nodes = try (0..<count).map { position in
            var node = Node.empty
            guard grown.features[position] >= 0 else {
                guard grown.values[position].isFinite else { throw refuse("has a leaf of \(grown.values[position])") }
                node.value = grown.values[position]
                return node
            }
            (node.feature, node.threshold) = (grown.features[position], grown.thresholds[position])
            (node.left, node.right) = (grown.lefts[position], grown.rights[position])
            node.missingGoesLeft = grown.missingGoesLeft[position]
            guard Int(node.feature) < columns, !node.threshold.isNaN else {
                throw refuse("tests column \(node.feature) of \(columns) at \(node.threshold)")
            }
            guard position + 1..<count ~= Int(node.left), position + 1..<count ~= Int(node.right) else {
                throw refuse("has the nodes \(node.left) and \(node.right) below node \(position) of \(count)")
            }
            return node
        }
    }
}
