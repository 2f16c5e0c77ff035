import MLNumerics

/// Folds of rows for cross-validation; each repeat divides the rows anew.
package struct TableFolds: Sendable {
    /// The rows of each fold of each repeat, ascending.
    package let held: [[[Int]]]
    package let count: Int

    /// Divides rows into folds.
    /// - Parameters:
    ///   - targets: By row: a number, or the index of its class.
    ///   - count: The number of folds in a repeat; fewer if there are fewer rows.
    ///   - repeats: The number of repeats.
    ///   - isClassifier: Whether each fold gets its share of every class; the only row of a class is never held out.
    package init(_ targets: [Double], count: Int, repeats: Int, isClassifier: Bool) {
        self.count = count
        let groups: [[Int]] =
            isClassifier
            ? Dictionary(grouping: targets.indices, by: { targets[$0] }).sorted { $0.key < $1.key }.map(\.value)
                .filter { $0.count > 1 }
            : [Array(targets.indices)].filter { $0.count > 1 }
        held = (0..<repeats).map { number in
            var generator = SplitMix64(seed: 42 &+ UInt64(number))
            var folds = [[Int]](repeating: [], count: count)
            // Each group continues at the fold after the previous group's last one, so that folds are of equal size.
            var position = 0
            for group in groups {
                for row in group.shuffled(using: &generator) {
                    folds[position % count].append(row)
                    position += 1
                }
            }
            return folds.filter { !$0.isEmpty }.map { $0.sorted() }
        }
    }

    /// The rows that are trained on while others are held out.
    static func rest(of held: [Int], count: Int) -> [Int] {
        var isHeld = [Bool](repeating: false, count: count)
        for row in held { isHeld[row] = true }
        return (0..<count).filter { !isHeld[$0] }
    }
}
