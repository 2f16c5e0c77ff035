import CMLKernels

/// Decision trees laid out for evaluation: the children of a node are adjacent, and so are each tree's nodes.
///
/// `@unchecked Sendable`: immutable.
package final class Forest: @unchecked Sendable {
    /// A node; a leaf is its own left child.
    package struct Node {
        /// Rows whose value of `feature` is at most `threshold` (or equal to it, when `comparesEqual`) go left.
        package var threshold: Double
        package var feature: Int32
        /// The index of the left child; the right child follows it.
        package var left: Int32
        package var comparesEqual: Bool
        /// Whether rows with a missing value (NaN) go left.
        package var missingGoesLeft: Bool

        package init(threshold: Double, feature: Int32, left: Int32, comparesEqual: Bool, missingGoesLeft: Bool) {
            self.threshold = threshold
            self.feature = feature
            self.left = left
            self.comparesEqual = comparesEqual
            self.missingGoesLeft = missingGoesLeft
        }

        /// The leaf at index `index`.
        package static func leaf(_ index: Int32) -> Node {
            Node(threshold: .infinity, feature: 0, left: index, comparesEqual: false, missingGoesLeft: true)
        }
    }

    private let nodes: [cml_tree_node]
    private let flags: [UInt8]
    private let roots: [Int32]
    private let depths: [Int32]
    private let columns: [Int32]
    private let values: [Double]
    private let starts: [Int32]
    private let entryColumns: [Int32]
    private let entryValues: [Double]
    private let base: [Double]
    private let isSpecial: Bool
    /// The number of features in a row.
    package let width: Int
    /// The number of sums per row.
    package var outputs: Int { base.count }
    package var treeCount: Int { roots.count }
    package var nodeCount: Int { nodes.count }

    /// Creates a forest.
    ///
    /// - Parameters:
    ///   - nodes: The nodes of all trees.
    ///   - trees: The range of each tree's nodes; the first is its root.
    ///   - depths: For each tree the longest path from the root to a leaf.
    ///   - leaves: For each node the indices of the sums that a leaf adds to and the values; empty for branches.
    ///   - base: The initial value of each sum.
    ///   - width: The number of features in a row.
    package init(
        nodes: [Node],
        trees: [Range<Int>],
        depths: [Int],
        leaves: [[(column: Int, value: Double)]],
        base: [Double],
        width: Int
    ) {
        precondition(nodes.count < Int(Int32.max) && leaves.count == nodes.count && depths.count == trees.count)
        self.nodes = nodes.map { cml_tree_node(threshold: $0.threshold, feature: $0.feature, left: $0.left) }
        flags = nodes.map {
            UInt8($0.missingGoesLeft ? CML_TREE_MISSING_LEFT : 0)
                | UInt8($0.comparesEqual ? CML_TREE_EQUAL : 0)
        }
        isSpecial = nodes.contains { $0.comparesEqual }
        roots = trees.map { Int32($0.lowerBound) }
        self.depths = depths.map { Int32($0) }
        columns = trees.map { tree in
            var common: Int32?
            for node in tree where nodes[node].left == Int32(node) {
                guard leaves[node].count == 1, common ?? Int32(leaves[node][0].column) == Int32(leaves[node][0].column)
                else { return -1 }
                common = Int32(leaves[node][0].column)
            }
            return common ?? -1
        }
        values = leaves.map { $0.count == 1 ? $0[0].value : 0 }
        var starts: [Int32] = [0]
        var entryColumns: [Int32] = []
        var entryValues: [Double] = []
        starts.reserveCapacity(leaves.count + 1)
        for entries in leaves {
            for entry in entries {
                entryColumns.append(Int32(entry.column))
                entryValues.append(entry.value)
            }
            starts.append(Int32(entryColumns.count))
        }
        self.starts = starts
        self.entryColumns = entryColumns
        self.entryValues = entryValues
        self.base = base
        self.width = width
    }

    /// sums[row][output] for `rows` rows of `width` values; in parallel when there are many.
    package func sums(_ x: UnsafePointer<Double>, rows: Int, into sums: UnsafeMutablePointer<Double>) {
        withForest { forest in
            let work = rows * treeCount
            let parts = Swift.min(work < 4096 ? 1 : (rows + 255) / 256, rows)
            guard parts > 1 else {
                cml_forest_sum(forest, x, rows, sums)
                return
            }
            // The forest is only read; each part writes the sums of its own rows.
            nonisolated(unsafe) let (forest, sums) = (forest, sums)
            Workers.parallelFor(parts) { part, _ in
                let start = part * rows / parts
                let end = (part + 1) * rows / parts
                cml_forest_sum(forest, x + start * width, end - start, sums + start * outputs)
            }
        }
    }

    private func withForest(_ body: (UnsafePointer<cml_forest>) -> Void) {
        nodes.withUnsafeBufferPointer { nodes in
            flags.withUnsafeBufferPointer { flags in
                roots.withUnsafeBufferPointer { roots in
                    depths.withUnsafeBufferPointer { depths in
                        columns.withUnsafeBufferPointer { columns in
                            withLeaves { values, starts, entryColumns, entryValues, base in
                                var forest = cml_forest(
                                    nodes: nodes.baseAddress,
                                    flags: flags.baseAddress,
                                    roots: roots.baseAddress,
                                    depths: depths.baseAddress,
                                    columns: columns.baseAddress,
                                    values: values,
                                    starts: starts,
                                    entry_columns: entryColumns,
                                    entry_values: entryValues,
                                    base: base,
                                    trees: roots.count,
                                    width: width,
                                    outputs: outputs,
                                    special: isSpecial ? 1 : 0
                                )
                                body(&forest)
                            }
                        }
                    }
                }
            }
        }
    }

    private func withLeaves(
        _ body: (
            UnsafePointer<Double>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?, UnsafePointer<Double>?,
            UnsafePointer<Double>?
        ) -> Void
    ) {
        values.withUnsafeBufferPointer { values in
            starts.withUnsafeBufferPointer { starts in
                entryColumns.withUnsafeBufferPointer { entryColumns in
                    entryValues.withUnsafeBufferPointer { entryValues in
                        base.withUnsafeBufferPointer { base in
                            body(
                                values.baseAddress,
                                starts.baseAddress,
                                entryColumns.baseAddress,
                                entryValues.baseAddress,
                                base.baseAddress
                            )
                        }
                    }
                }
            }
        }
    }
}
