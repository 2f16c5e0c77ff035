import MLNumerics

/// Rows that are held out by turns: each repeat shares out the rows anew.
package struct TableFolds: Sendable {
    /// The rows of each fold of each repeat, ascending.
    package let held: [[[Int]]]
    package let count: Int

    /// - Parameters:
    ///   - targets: by row; numbers of classes for a classifier.
    ///   - count: the folds of a repeat, fewer when there are fewer rows.
    ///   - repeats: how often the rows are shared out.
    ///   - isClassifier: whether each fold gets its share of every class.  The only row of a class is never held out.
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
            // One group begins where the one before it has ended, so that folds are of one size.
            var place = 0
            for group in groups {
                for row in group.shuffled(using: &generator) {
                    folds[place % count].append(row)
                    place += 1
                }
            }
            return folds.filter { !$0.isEmpty }.map { $0.sorted() }
        }
    }

    /// The rows that are learnt from while others are held out.
    static func rest(of held: [Int], count: Int) -> [Int] {
        var isHeld = [Bool](repeating: false, count: count)
        for row in held { isHeld[row] = true }
        return (0..<count).filter { !isHeld[$0] }
    }
}
