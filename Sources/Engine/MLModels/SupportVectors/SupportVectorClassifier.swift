package import MLFeatures
import MLKernels
package import MLNumerics
package import MLSpecification

/// A support vector classifier with one machine for each pair of classes (one-versus-one).
///
/// With the pairs' probability parameters, the label is the most probable one; without them the one that wins the most
/// pairs, in a tie the first, and the scores are each class's share of the pairs.
package struct SupportVectorClassifier: ColumnEngine {
    package let interface: SpecModelDescription
    private let input: VectorInput
    private let vectors: SupportVectors
    /// [classes − 1][vectors]: for a vector of class i, row j − 1 or j holds its coefficient in the pair with class j.
    private let coefficients: [Double]
    /// The first vector of each class, and the end.
    private let starts: [Int]
    private let rho: [Double]
    private let probabilities: PairwiseProbabilities?
    private let output: ClassOutput

    package init(_ parameters: SpecSupportVectorClassifier, _ interface: SpecModelDescription) throws(ModelError) {
        self.interface = interface
        let width = try VectorInput(interface).width
        switch parameters.supportVectors {
        case .denseSupportVectors(let list)?:
            vectors = try SupportVectors(dense: list.vectors, parameters.kernel, width: width)
        case .sparseSupportVectors(let list)?:
            vectors = try SupportVectors(sparse: list.vectors, parameters.kernel, width: width)
        case nil: throw ModelError(.invalidModel, "the support vector machine has no support vectors")
        }
        input = try VectorInput(interface, width: vectors.width)
        let labels: LabelList
        switch parameters.classLabels {
        case .stringClassLabels(let list)?: labels = .strings(list.vector)
        case .int64ClassLabels(let list)?: labels = .integers(list.vector)
        case nil: throw ModelError(.invalidModel, "the classifier has no class labels")
        }
        output = try ClassOutput(labels, interface)
        let classes = labels.count
        guard classes >= 2, parameters.coefficients.count == classes - 1 else {
            throw ModelError(
                .invalidModel,
                "\(classes) classes need \(classes - 1) rows of coefficients, but there are \(parameters.coefficients.count)"
            )
        }
        for (row, list) in parameters.coefficients.enumerated() where list.alpha.count != vectors.count {
            throw ModelError(
                .invalidModel,
                "row \(row) of the coefficients has \(list.alpha.count) values for \(vectors.count) support vectors"
            )
        }
        coefficients = parameters.coefficients.flatMap(\.alpha)
        let counts = parameters.numberOfSupportVectorsPerClass.map { Int($0) }
        guard counts.count == classes, counts.allSatisfy({ $0 >= 0 }), counts.reduce(0, +) == vectors.count else {
            throw ModelError(
                .invalidModel,
                "the numbers of support vectors per class \(counts) do not add to \(vectors.count) for \(classes) classes"
            )
        }
        starts = counts.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1) }
        let pairs = classes * (classes - 1) / 2
        guard parameters.rho.count == pairs else {
            throw ModelError(
                .invalidModel,
                "\(classes) classes need \(pairs) values of rho, but there are \(parameters.rho.count)"
            )
        }
        rho = parameters.rho
        if parameters.probA.isEmpty, parameters.probB.isEmpty {
            probabilities = nil
        } else {
            guard parameters.probA.count == pairs, parameters.probB.count == pairs else {
                throw ModelError(
                    .invalidModel,
                    "\(classes) classes need \(pairs) values of probA and probB, "
                        + "but there are \(parameters.probA.count) and \(parameters.probB.count)"
                )
            }
            probabilities = PairwiseProbabilities(classes: classes, a: parameters.probA, b: parameters.probB)
        }
    }

    package func outputs(for batch: FeatureBatch) throws(ModelError) -> [String: FeatureColumn] {
        let matrix = try input.matrix(batch)
        let classes = output.labels.count
        var scores = [Double](repeating: 0, count: batch.count * classes)
        scores.withUnsafeMutableBufferPointer { scores in
            guard let scores = scores.baseAddress else { return }
            // Each call writes the scores of its own rows.
            nonisolated(unsafe) let result = scores
            vectors.forEach(matrix) { first, rows, kernels in
                let sums = partialSums(kernels, rows: rows)
                for row in 0..<rows {
                    score(
                        sums[row * classes * (classes - 1)..<(row + 1) * classes * (classes - 1)],
                        into: UnsafeMutableBufferPointer(start: result + (first + row) * classes, count: classes)
                    )
                }
            }
        }
        return try output.columns(scores)
    }

    /// sums[example][class][row] = Σ over the class's vectors of coefficients[row] · kernel.
    private func partialSums(_ kernels: UnsafePointer<Double>, rows: Int) -> [Double] {
        let classes = output.labels.count
        var sums = [Double](repeating: 0, count: rows * classes * (classes - 1))
        sums.withUnsafeMutableBufferPointer { sums in
            coefficients.withUnsafeBufferPointer { coefficients in
                guard let sums = sums.baseAddress, let coefficients = coefficients.baseAddress else { return }
                for index in 0..<classes {
                    DoubleKernel.dotProducts(
                        kernels + starts[index],
                        rows: rows,
                        stride: vectors.count,
                        coefficients + starts[index],
                        rows: classes - 1,
                        stride: vectors.count,
                        terms: starts[index + 1] - starts[index],
                        into: sums + index * (classes - 1),
                        stride: classes * (classes - 1)
                    )
                }
            }
        }
        return sums
    }

    /// The score of each class for one example.
    private func score(_ sums: ArraySlice<Double>, into result: UnsafeMutableBufferPointer<Double>) {
        let classes = result.count
        var decisions: [Double] = []
        decisions.reserveCapacity(rho.count)
        for i in 0..<classes {
            for j in i + 1..<classes {
                let ofFirst = sums[sums.startIndex + i * (classes - 1) + j - 1]
                let ofSecond = sums[sums.startIndex + j * (classes - 1) + i]
                decisions.append(ofFirst + ofSecond - rho[decisions.count])
            }
        }
        if let probabilities {
            probabilities.join(decisions, into: result)
            return
        }
        var pair = 0
        for i in 0..<classes {
            for j in i + 1..<classes {
                result[decisions[pair] > 0 ? i : j] += 1 / Double(rho.count)
                pair += 1
            }
        }
    }
}
