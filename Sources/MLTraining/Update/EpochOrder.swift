/// The order in which an epoch takes the examples.
///
/// Shuffled orders are Fisher-Yates from the last place to the second: place i changes with place r mod (i + 1), where
/// r are the numbers of splitmix64 (Steele, Lea and Flood 2014) whose state starts at seed + epoch.  Every epoch
/// starts from the given order, so any of them can be made again by itself.
package enum EpochOrder {
    /// - Parameters:
    ///   - seed: `nil` for the given order.
    ///   - epoch: from 0.
    package static func indices(count: Int, seed: Int64?, epoch: Int) -> [Int] {
        var order = Array(0..<count)
        guard let seed, count > 1 else { return order }
        var state = UInt64(bitPattern: seed) &+ UInt64(epoch)
        for place in stride(from: count - 1, through: 1, by: -1) {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            mixed ^= mixed >> 31
            order.swapAt(place, Int(mixed % UInt64(place + 1)))
        }
        return order
    }
}
