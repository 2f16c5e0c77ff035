/// The 64-bit hashes of text features, which replace their spelling in models of revision 1002.
///
/// The probability of a collision among a hundred thousand features is 3 · 10⁻¹⁰.
package enum FeatureKey {
    /// FNV-1a over the bytes, then SplitMix64's finish.
    package static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return finish(hash)
    }

    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return finish(hash)
    }

    package static func hash(_ text: String) -> UInt64 { text.withBytes { hash($0) } }

    /// The key of `first` followed by `second`.
    package static func combined(_ first: UInt64, _ second: UInt64) -> UInt64 {
        finish((first << 1 | first >> 63) ^ second &* 0x9E37_79B9_7F4A_7C15)
    }

    /// The key of a content at a position that a number stands for.
    package static func positioned(_ number: UInt64, _ content: UInt64) -> UInt64 {
        finish(content &+ (number &+ 1) &* 0x9E37_79B9_7F4A_7C15)
    }

    private static func finish(_ hash: UInt64) -> UInt64 {
        var z = hash
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Indices of keys: 0, 1, … in the order of insertion.
package struct KeyTable: Sendable {
    package private(set) var keys: [UInt64] = []
    /// The key's index + 1 in each slot; 0 for an empty slot.
    private var slots: [UInt32]
    private var mask: Int

    package init(capacity: Int = 0) {
        var size = 16
        while size < capacity * 2 { size *= 2 }
        slots = [UInt32](repeating: 0, count: size)
        mask = size - 1
        keys.reserveCapacity(capacity)
    }

    /// Builds the table of some keys; `nil` when a key occurs twice.
    package init?(_ keys: [UInt64]) {
        self.init(capacity: keys.count)
        for (position, key) in keys.enumerated() where insert(key) != position { return nil }
    }

    package var count: Int { keys.count }

    package func position(of key: UInt64) -> Int? {
        var slot = Int(truncatingIfNeeded: key) & mask
        while slots[slot] != 0 {
            let position = Int(slots[slot]) - 1
            if keys[position] == key { return position }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The index of a key, which is inserted when it is new.
    package mutating func insert(_ key: UInt64) -> Int {
        if keys.count * 2 >= slots.count { grow() }
        var slot = Int(truncatingIfNeeded: key) & mask
        while slots[slot] != 0 {
            let position = Int(slots[slot]) - 1
            if keys[position] == key { return position }
            slot = (slot + 1) & mask
        }
        slots[slot] = UInt32(keys.count + 1)
        keys.append(key)
        return keys.count - 1
    }

    private mutating func grow() {
        mask = slots.count * 2 - 1
        slots = [UInt32](repeating: 0, count: slots.count * 2)
        for (position, key) in keys.enumerated() {
            var slot = Int(truncatingIfNeeded: key) & mask
            while slots[slot] != 0 { slot = (slot + 1) & mask }
            slots[slot] = UInt32(position + 1)
        }
    }
}
