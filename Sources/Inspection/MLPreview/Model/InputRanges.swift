import MLFiles
package import MLSpecification

/// The plausible values of plain inputs, derived from the file: the thresholds of trees, the categories of encoders.
package struct InputRanges: Sendable, Equatable {
    /// The least and the greatest threshold that a number is compared with.
    package private(set) var numbers: [String: ClosedRange<Double>] = [:]
    package private(set) var texts: [String: [String]] = [:]
    package private(set) var integers: [String: [Int64]] = [:]

    package init(_ model: SpecModel) {
        var columns: [String: [String?]] = [:]
        read(model, &columns)
        let inputs = Set(model.description_p.input.map(\.name))
        numbers = numbers.filter { inputs.contains($0.key) }
        texts = texts.filter { inputs.contains($0.key) }
        integers = integers.filter { inputs.contains($0.key) }
    }

    /// Collects the ranges of a model and of the models inside it.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - columns: For each vector that an earlier model computes, the input behind each element.
    private mutating func read(_ model: SpecModel, _ columns: inout [String: [String?]]) {
        for stage in model.stages { read(stage, &columns) }
        let interface = model.description_p
        switch model.type {
        case .oneHotEncoder(let encoder)?:
            guard let input = interface.input.first?.name, let output = interface.output.first?.name else { return }
            let count: Int
            if case .int64Categories(let list)? = encoder.categoryType {
                integers[input] = list.vector
                count = list.vector.count
            } else {
                texts[input] = encoder.stringCategories.vector
                count = encoder.stringCategories.vector.count
            }
            columns[output] = [String?](repeating: nil, count: count)
        case .featureVectorizer(let vectorizer)?:
            guard let output = interface.output.first?.name else { return }
            var elements: [String?] = []
            for column in vectorizer.inputList {
                let count = Int(clamping: column.inputDimensions)
                // A damaged file may claim any size.
                guard elements.count + count <= 1 << 20 else { return }
                if let known = columns[column.inputColumn], known.count == count {
                    elements += known
                } else {
                    elements += count == 1 ? [column.inputColumn] : [String?](repeating: nil, count: count)
                }
            }
            columns[output] = elements
        case .itemSimilarityRecommender(let recommender)?:
            let names = [
                recommender.itemInputFeatureName, recommender.itemExclusionInputFeatureName,
                recommender.itemRestrictionInputFeatureName,
            ]
            for name in names where !name.isEmpty {
                if !recommender.itemStringIds.vector.isEmpty { texts[name] = recommender.itemStringIds.vector }
                if !recommender.itemInt64Ids.vector.isEmpty { integers[name] = recommender.itemInt64Ids.vector }
            }
        case .treeEnsembleClassifier(let trees)?: read(trees.treeEnsemble.nodes, interface, columns)
        case .treeEnsembleRegressor(let trees)?: read(trees.treeEnsemble.nodes, interface, columns)
        default: break
        }
    }

    private mutating func read(
        _ nodes: [SpecTreeEnsembleParameters.TreeNode],
        _ interface: SpecModelDescription,
        _ columns: [String: [String?]]
    ) {
        let elements: [String?]
        if interface.input.count == 1, let only = interface.input.first {
            elements = columns[only.name] ?? (only.isNumber ? [only.name] : [])
        } else {
            elements = interface.input.map { $0.isNumber ? $0.name : nil }
        }
        for node in nodes where node.nodeBehavior != .leafNode {
            guard node.branchFeatureIndex < UInt64(elements.count), node.branchFeatureValue.isFinite,
                let name = elements[Int(node.branchFeatureIndex)]
            else { continue }
            let value = node.branchFeatureValue
            if let range = numbers[name] {
                numbers[name] = min(range.lowerBound, value)...max(range.upperBound, value)
            } else {
                numbers[name] = value...value
            }
        }
    }
}
