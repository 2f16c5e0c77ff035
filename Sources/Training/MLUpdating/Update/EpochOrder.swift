import MLNumerics

/// The order of the examples in an epoch.
///
/// Shuffled orders are Fisher-Yates from the last position to the second: position i is swapped with position r mod (i
/// + 1), where r are the numbers of splitmix64 (Steele, Lea and Flood 2014) whose state starts at seed + epoch. Every
/// epoch starts from the given order, so each can be reproduced by itself.
package enum EpochOrder {
    /// The order of the examples in an epoch.
    ///
    /// - Parameters:
    ///   - count: The number of examples.
    ///   - seed: `nil` for the given order.
    ///   - epoch: The index of the epoch, from 0.
    /// - Returns: The indices of the examples in the order in which the epoch uses them.
    package static func indices(count: Int, seed: Int64?, epoch: Int) -> [Int] {
        var order = Array(0..<count)
        guard let seed, count > 1 else { return order }
        var source = SplitMix64(seed: UInt64(bitPattern: seed) &+ UInt64(epoch))
        for location in stride(from: count - 1, through: 1, by: -1) {
            order.swapAt(location, Int(source.next() % UInt64(location + 1)))
        }
        return order
    }
}
