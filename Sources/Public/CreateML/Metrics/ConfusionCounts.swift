package import MLFeatures
package import TabularData

/// How often each class was taken for each.
package struct ConfusionCounts: Equatable, Sendable {
    package let labels: LabelList
    /// `counts[truth * labels.count + prediction]`.
    package private(set) var counts: [Int]

    package init(_ labels: LabelList) {
        self.labels = labels
        counts = [Int](repeating: 0, count: labels.count * labels.count)
    }

    /// - Parameters:
    ///   - truth: numbers of classes.
    ///   - predictions: as many.
    package init(_ labels: LabelList, truth: some Sequence<Int>, predictions: some Sequence<Int>) {
        self.init(labels)
        for (truth, prediction) in zip(truth, predictions) { add(truth, prediction) }
    }

    /// With labels that are texts.
    package init(strings: [String], truth: some Sequence<Int> = [], predictions: some Sequence<Int> = []) {
        self.init(.strings(strings), truth: truth, predictions: predictions)
    }

    /// With labels that are integers.
    package init(integers: [Int64], truth: some Sequence<Int> = [], predictions: some Sequence<Int> = []) {
        self.init(.integers(integers), truth: truth, predictions: predictions)
    }

    package mutating func add(_ truth: Int, _ prediction: Int) { counts[truth * labels.count + prediction] += 1 }

    package func count(_ truth: Int, _ prediction: Int) -> Int { counts[truth * labels.count + prediction] }

    package var total: Int { counts.reduce(0, +) }

    /// The share of examples whose class was recognised; NaN without examples.
    package var accuracy: Double {
        let right = (0..<labels.count).reduce(0) { $0 + count($1, $1) }
        return Double(right) / Double(total)
    }

    /// Of the examples that were taken for a class, the share that is of it; `nil` when none was.
    package func precision(_ label: Int) -> Double? {
        let taken = (0..<labels.count).reduce(0) { $0 + count($1, label) }
        return taken == 0 ? nil : Double(count(label, label)) / Double(taken)
    }

    /// Of the examples of a class, the share that was recognised; `nil` when there is none.
    package func recall(_ label: Int) -> Double? {
        let present = (0..<labels.count).reduce(0) { $0 + count(label, $1) }
        return present == 0 ? nil : Double(count(label, label)) / Double(present)
    }

    /// Columns `True Label`, `Predicted`, `Count`: a row for each pair of classes.
    package var confusion: DataFrame {
        let size = labels.count
        return DataFrame(columns: [
            labels.column(named: "True Label", counts.indices.map { $0 / size }),
            labels.column(named: "Predicted", counts.indices.map { $0 % size }),
            Column<Int>(name: "Count", contents: counts).eraseToAnyColumn(),
        ])
    }

    /// Columns `Class`, `Precision`, `Recall`: a row for each class; shares, missing where there is nothing to count.
    package var precisionRecall: DataFrame {
        let all = 0..<labels.count
        return DataFrame(columns: [
            labels.column(named: "Class", all),
            Column<Double>(name: "Precision", contents: all.map { precision($0) }).eraseToAnyColumn(),
            Column<Double>(name: "Recall", contents: all.map { recall($0) }).eraseToAnyColumn(),
        ])
    }
}
