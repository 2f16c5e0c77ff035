package import MLFeatures
package import TabularData

/// A confusion matrix: the number of examples for each pair of true and predicted class.
package struct ConfusionCounts: Equatable, Sendable {
    package let labels: LabelList
    /// The matrix in row-major order: `counts[truth * labels.count + prediction]`.
    package private(set) var counts: [Int]

    package init(_ labels: LabelList) {
        self.labels = labels
        counts = [Int](repeating: 0, count: labels.count * labels.count)
    }

    /// Counts examples.
    /// - Parameters:
    ///   - labels: The labels of the classes.
    ///   - truth: The indices of the true classes.
    ///   - predictions: The indices of the predicted classes, as many.
    package init(_ labels: LabelList, truth: some Sequence<Int>, predictions: some Sequence<Int>) {
        self.init(labels)
        for (truth, prediction) in zip(truth, predictions) { add(truth, prediction) }
    }

    /// Counts examples whose labels are strings.
    package init(strings: [String], truth: some Sequence<Int> = [], predictions: some Sequence<Int> = []) {
        self.init(.strings(strings), truth: truth, predictions: predictions)
    }

    /// Counts examples whose labels are integers.
    package init(integers: [Int64], truth: some Sequence<Int> = [], predictions: some Sequence<Int> = []) {
        self.init(.integers(integers), truth: truth, predictions: predictions)
    }

    package mutating func add(_ truth: Int, _ prediction: Int) { counts[truth * labels.count + prediction] += 1 }

    package func count(_ truth: Int, _ prediction: Int) -> Int { counts[truth * labels.count + prediction] }

    package var total: Int { counts.reduce(0, +) }

    /// The share of examples that are classified correctly; NaN without examples.
    package var accuracy: Double {
        let right = (0..<labels.count).reduce(0) { $0 + count($1, $1) }
        return Double(right) / Double(total)
    }

    /// The share of the examples predicted to be of a class that are of it; `nil` if none was.
    package func precision(_ label: Int) -> Double? {
        let used = (0..<labels.count).reduce(0) { $0 + count($1, label) }
        return used == 0 ? nil : Double(count(label, label)) / Double(used)
    }

    /// The share of the examples of a class that were predicted to be; `nil` if there are none.
    package func recall(_ label: Int) -> Double? {
        let present = (0..<labels.count).reduce(0) { $0 + count(label, $1) }
        return present == 0 ? nil : Double(count(label, label)) / Double(present)
    }

    /// The confusion matrix as columns `True Label`, `Predicted` and `Count`, a row for each pair of classes.
    package var confusion: DataFrame {
        let size = labels.count
        return DataFrame(columns: [
            labels.column(named: "True Label", counts.indices.map { $0 / size }),
            labels.column(named: "Predicted", counts.indices.map { $0 % size }),
            Column<Int>(name: "Count", contents: counts).eraseToAnyColumn(),
        ])
    }

    /// Columns `Class`, `Precision` and `Recall`, a row for each class; missing where there is nothing to count.
    package var precisionRecall: DataFrame {
        let all = 0..<labels.count
        return DataFrame(columns: [
            labels.column(named: "Class", all),
            Column<Double>(name: "Precision", contents: all.map { precision($0) }).eraseToAnyColumn(),
            Column<Double>(name: "Recall", contents: all.map { recall($0) }).eraseToAnyColumn(),
        ])
    }
}
