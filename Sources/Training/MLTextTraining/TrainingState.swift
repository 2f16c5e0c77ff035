import MLNumerics

/// A trainer's checkpoint as bytes: eight bytes for the kind, a fingerprint of the data, the passes done, and arrays of
/// floats with their lengths; little-endian.
struct TrainingState {
    let passes: Int
    let arrays: [[Float]]

    static func bytes(kind: String, fingerprint: UInt64, passes: Int, arrays: [[Float]]) -> [UInt8] {
        precondition(kind.utf8.count == 8)
        var bytes = Array(kind.utf8)
        func append(_ value: UInt64) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }
        append(fingerprint)
        append(UInt64(passes))
        for array in arrays {
            append(UInt64(array.count))
            bytes.reserveCapacity(bytes.count + array.count * 4)
            for value in array { withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes += $0 } }
        }
        return bytes
    }

    /// - Throws: `.malformed` for bytes that are not a state of this kind with arrays of these lengths, `.invalidInput`
    ///   for a state of other data.
    init(_ bytes: [UInt8], kind: String, fingerprint: UInt64, lengths: [Int]) throws(ModelError) {
        var position = 8
        func integer() -> UInt64? {
            guard bytes.count - position >= 8 else { return nil }
            defer { position += 8 }
            return bytes[position..<position + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard bytes.starts(with: kind.utf8), let found = integer(), let passes = integer(), passes < 1 << 40 else {
            throw ModelError(.malformed, "the checkpoint is not a state of this training; delete it and train again")
        }
        guard found == fingerprint else {
            throw ModelError(
                .invalidInput,
                "the checkpoint belongs to other training data or settings; give the same ones, or train again"
            )
        }
        var arrays: [[Float]] = []
        for length in lengths {
            guard integer() == UInt64(length), (bytes.count - position) / 4 >= length else {
                throw ModelError(.malformed, "the checkpoint ends at byte \(bytes.count), within its numbers")
            }
            arrays.append(
                bytes.withUnsafeBytes { raw in
                    (0..<length).map {
                        let bits = raw.loadUnaligned(fromByteOffset: position + $0 * 4, as: UInt32.self)
                        return Float(bitPattern: UInt32(littleEndian: bits))
                    }
                }
            )
            position += length * 4
            guard arrays[arrays.count - 1].allSatisfy(\.isFinite) else {
                throw ModelError(.malformed, "a number of the checkpoint is not finite; delete it and train again")
            }
        }
        guard position == bytes.count else {
            throw ModelError(.malformed, "\(bytes.count - position) bytes follow the checkpoint")
        }
        self.passes = Int(passes)
        self.arrays = arrays
    }
}

/// A running fingerprint of data.
struct Fingerprint {
    private(set) var value: UInt64 = 0x5357_5445_5854

    mutating func add(_ number: UInt64) {
        var generator = SplitMix64(seed: value ^ number)
        value = generator.next()
    }

    mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }
}

/// The order of a pass: a permutation of 0..<count that depends on the seed and the pass's number.
func order(_ count: Int, seed: UInt64, pass: Int) -> [Int] {
    var generator = SplitMix64(seed: seed &+ UInt64(pass) &* 0x9E37_79B9_7F4A_7C15)
    return Array(0..<count).shuffled(using: &generator)
}
