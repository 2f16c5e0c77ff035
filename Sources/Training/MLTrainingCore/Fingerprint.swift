import MLNumerics

/// A 64-bit hash that tells data and files apart; it does not resist deliberate collisions.
///
/// Fingerprints are stored in checkpoints and compared with those of another run, so a family of trainers keeps its
/// method: with another one, no earlier checkpoint would be recognised.
package struct Fingerprint: Sendable {
    /// The function that mixes a word of 64 bits into the hash.
    package enum Method: Sendable {
        /// FNV-1a of the word's bytes, the lowest first; used by updates.
        case fnv1a
        /// FNV-1a with whole words in place of bytes; used by linear models.
        case fnv1aWords
        /// A step of SplitMix64 from the sum so far; used by texts.
        case splitMix
        /// The halves of the 128-bit product with a constant (Wang Yi's wyhash); used by sessions of Create ML.
        case wideProduct
    }

    package let method: Method
    private var state: UInt64

    package init(_ method: Method) {
        self.method = method
        state =
            switch method {
            case .fnv1a, .fnv1aWords: 0xCBF2_9CE4_8422_2325
            case .splitMix: 0x5357_5445_5854
            case .wideProduct: 0x9E37_79B9_7F4A_7C15
            }
    }

    /// The hash of everything that was added.
    package var value: UInt64 {
        guard method == .wideProduct else { return state }
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// The fingerprint of bytes.
    package static func of(_ bytes: [UInt8], _ method: Method) -> UInt64 {
        var result = Fingerprint(method)
        result.add(bytes)
        return result.value
    }

    // MARK: Numbers

    package mutating func add(_ word: UInt64) { mix(1) { _ in word } }
    package mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }
    package mutating func add(_ number: Double) { add(number.bitPattern) }

    /// Adds words one after the other, without their number.
    package mutating func add(_ words: [UInt64]) { mix(words.count) { words[$0] } }
    /// Adds numbers one after the other, without their count.
    package mutating func add(_ numbers: [Int]) { mix(numbers.count) { UInt64(bitPattern: Int64(numbers[$0])) } }
    /// Adds numbers one after the other, without their count.
    package mutating func add(_ numbers: [Double]) { mix(numbers.count) { numbers[$0].bitPattern } }

    private mutating func mix(_ count: Int, _ word: (Int) -> UInt64) {
        var hash = state
        switch method {
        case .fnv1a: for position in 0..<count { hash = Self.fnv1a(hash, bytesOf: word(position)) }
        case .fnv1aWords: for position in 0..<count { hash = (hash ^ word(position)) &* Self.prime }
        case .splitMix:
            for position in 0..<count {
                var generator = SplitMix64(seed: hash ^ word(position))
                hash = generator.next()
            }
        case .wideProduct:
            for position in 0..<count {
                let word = word(position)
                let product = (hash ^ word).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
                hash = (product.high ^ product.low) &+ word
            }
        }
        state = hash
    }

    /// The prime of FNV with 64 bits.
    private static let prime: UInt64 = 0x100_0000_01B3

    private static func fnv1a(_ hash: UInt64, bytesOf word: UInt64) -> UInt64 {
        var hash = hash
        for index in 0..<8 { hash = (hash ^ (word >> UInt64(8 * index) & 0xFF)) &* prime }
        return hash
    }

    // MARK: Bytes

    /// Adds bytes and their number.
    package mutating func add(_ bytes: [UInt8]) { add(bytes.span.bytes) }

    /// Adds bytes and their number, eight bytes at a time.
    package mutating func add(_ bytes: RawSpan) {
        let (count, whole) = (bytes.byteCount, bytes.byteCount / 8)
        // The loads are of integers, which every bit pattern is, and checked against the bounds.
        if method == .fnv1a {
            var hash = state
            for index in 0..<whole {
                let word = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
                hash = (hash ^ word) &* Self.prime
                hash ^= hash >> 29
            }
            for position in whole * 8..<count {
                hash = (hash ^ UInt64(bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self))) &* Self.prime
            }
            state = hash
            return add(count)
        }
        add(count)
        mix(whole) {
            UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self))
        }
        var rest: UInt64 = 0
        for position in whole * 8..<count {
            rest = rest << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: position, as: UInt8.self))
        }
        add(rest)
    }

    /// Adds bytes one by one, without their number: for the checksum of a file by `fnv1a`.
    package mutating func add(each bytes: [UInt8]) {
        guard method == .fnv1a else { return mix(bytes.count) { UInt64(bytes[$0]) } }
        var hash = state
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* Self.prime }
        state = hash
    }

    /// Adds a text and its length in UTF-8.
    package mutating func add(_ text: String) {
        let bytes = Array(text.utf8)
        guard method == .fnv1a else { return add(bytes) }
        add(each: bytes)
        add(bytes.count)
    }
}
