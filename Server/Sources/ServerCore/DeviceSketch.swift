public import DeploymentPolicy
import Glibc

/// A HyperLogLog sketch that estimates the number of different devices (Flajolet and others, 2007).
///
/// The number of registers is a power of two; each holds the largest rank, one more than the number of leading zeros,
/// of the hashes that fell to it.
public struct DeviceSketch: Sendable, Equatable {
    /// The registers.
    public private(set) var registers: [UInt8]

    /// The default number of registers, 4,096, with a standard error of 1.6 %.
    public static let usualCount = SketchPlace.registerCount

    /// Creates an empty sketch.
    public init(registerCount: Int = usualCount) { registers = [UInt8](repeating: 0, count: registerCount) }

    /// Creates a sketch from stored registers; `nil` when the bytes are not those of a sketch.
    public init?(registers: [UInt8]) {
        guard (16...65_536).contains(registers.count), registers.count.nonzeroBitCount == 1,
            registers.allSatisfy({ $0 <= 61 })
        else { return nil }
        self.registers = registers
    }

    /// Adds a device by 64 uniformly distributed bits of its own.
    public mutating func insert(_ hash: UInt64) {
        let bits = registers.count.trailingZeroBitCount
        let index = Int(hash >> UInt64(64 - bits))
        let rank = min((hash << UInt64(bits)).leadingZeroBitCount, 64 - bits) + 1
        registers[index] = max(registers[index], UInt8(rank))
    }

    /// Adds a device by the place that it reported; the sketch must have the default number of registers.
    public mutating func insert(_ place: SketchPlace) {
        precondition(registers.count == SketchPlace.registerCount)
        registers[place.register] = max(registers[place.register], UInt8(place.rank))
    }

    /// Merges another sketch, so that a device in both counts once.
    ///
    /// Returns false, and changes nothing, when the numbers of registers differ.
    @discardableResult
    public mutating func merge(_ other: DeviceSketch) -> Bool {
        guard registers.count == other.registers.count else { return false }
        for index in registers.indices { registers[index] = max(registers[index], other.registers[index]) }
        return true
    }

    /// The estimated number of devices: by linear counting while it is small, else by the harmonic mean.
    public var estimate: Int {
        let count = Double(registers.count)
        var (sum, empty) = (0.0, 0)
        for register in registers {
            sum += exp2(-Double(register))
            if register == 0 { empty += 1 }
        }
        let raw = 0.7213 / (1 + 1.079 / count) * count * count / sum
        if raw <= 2.5 * count, empty > 0 { return Int((count * log(count / Double(empty))).rounded()) }
        return Int(raw.rounded())
    }
}
