import MLKernels
import Synchronization

extension HistogramTreeGrower {
    /// Reorders each node's examples by child, keeping their order within a child.
    ///
    /// - Returns: The left children's counts.
    func partition(
        _ splits: [(open: Open, best: SplitCandidate)],
        _ order: inout [Int32],
        _ spare: inout [Int32]
    ) -> [Int] {
        let blocks = splits.enumerated().flatMap { index, split in
            chunks(of: split.open.rows).map { (split: index, rows: $0) }
        }
        var leftCounts = [Int](repeating: 0, count: blocks.count)
        // Splits are only read; each block has rows and an entry of its own, in the spare order and back in the order.
        nonisolated(unsafe) let splits = splits
        return order.withUnsafeMutableBufferPointer { buffer in
            nonisolated(unsafe) let order = buffer
            return spare.withUnsafeMutableBufferPointer { buffer in
                nonisolated(unsafe) let spare = buffer
                leftCounts.withUnsafeMutableBufferPointer { buffer in
                    nonisolated(unsafe) let leftCounts = buffer
                    // Each block is partitioned in place: left examples first, into the spare order.
                    Workers.parallelFor(blocks.count) { index, _ in
                        let block = blocks[index]
                        let best = splits[block.split].best
                        var left = block.rows.lowerBound
                        var right = block.rows.upperBound
                        examples.columns[Int(best.feature)].withUnsafeBufferPointer { values in
                            // Branch-free, because the branches would be unpredictable.
                            let missingGoesLeft = best.missingGoesLeft ? 1 : 0
                            for position in block.rows {
                                let row = order[position]
                                let value = values[Int(row)]
                                let isLeft = (value < best.threshold ? 1 : 0) | (value.isNaN ? missingGoesLeft : 0)
                                right &-= 1 &- isLeft
                                spare[right ^ ((left ^ right) & (0 &- isLeft))] = row
                                left &+= isLeft
                            }
                        }
                        leftCounts[index] = left - block.rows.lowerBound
                    }
                }
                var counts = [Int](repeating: 0, count: splits.count)
                for (block, left) in zip(blocks, leftCounts) { counts[block.split] += left }
                var starts: [(left: Int, right: Int)] = []
                var next = splits.enumerated().map { index, split in
                    (left: split.open.rows.lowerBound, right: split.open.rows.lowerBound + counts[index])
                }
                for (block, left) in zip(blocks, leftCounts) {
                    starts.append(next[block.split])
                    next[block.split].left += left
                    next[block.split].right += block.rows.count - left
                }
                let (fixed, positions) = (leftCounts, starts)
                Workers.parallelFor(blocks.count) { index, _ in
                    let (block, left) = (blocks[index], fixed[index])
                    let start = block.rows.lowerBound
                    for offset in 0..<left { order[positions[index].left + offset] = spare[start + offset] }
                    let right = block.rows.count - left
                    // The right examples were written from the end.
                    for offset in 0..<right {
                        order[positions[index].right + offset] = spare[block.rows.upperBound - 1 - offset]
                    }
                }
                return counts
            }
        }
    }

    /// Finds the leaves of the examples that were not in the sample.
    func assignUnsampled(_ leaves: inout [Int32], _ tree: RegressionTree) {
        for row in leaves.indices where leaves[row] < 0 {
            leaves[row] = Int32(tree.leafIndex { examples.columns[$0][row] })
        }
    }
}
