public import DeploymentPolicy
import Glibc

/// About how many different devices were seen, without saying which: a HyperLogLog sketch (P. Flajolet and others, 2007).
///
/// `registers` are a power of two; each holds the greatest number of leading zeros, and one, of the hashes that fell to it.
public struct DeviceSketch: Sendable, Equatable {
    public private(set) var registers: [UInt8]

    /// 4,096 registers: counts are good to 1.6 %.
    public static let usualCount = SketchPlace.registerCount

    public init(registerCount: Int = usualCount) { registers = [UInt8](repeating: 0, count: registerCount) }

    /// - Returns: `nil` when the bytes are not those of a sketch.
    public init?(registers: [UInt8]) {
        guard (16...65_536).contains(registers.count), registers.count.nonzeroBitCount == 1,
            registers.allSatisfy({ $0 <= 61 })
        else { return nil }
        self.registers = registers
    }

    /// Counts a device by 64 bits that are as good as random and its own.
    public mutating func insert(_ hash: UInt64) {
        let bits = registers.count.trailingZeroBitCount
        let index = Int(hash >> UInt64(64 - bits))
        let rank = min((hash << UInt64(bits)).leadingZeroBitCount, 64 - bits) + 1
        registers[index] = max(registers[index], UInt8(rank))
    }

    /// Counts a device by the place that it gave itself; a sketch of the usual size is needed.
    public mutating func insert(_ place: SketchPlace) {
        precondition(registers.count == SketchPlace.registerCount)
        registers[place.register] = max(registers[place.register], UInt8(place.rank))
    }

    /// Counts the devices of another sketch, each of both once.
    /// - Returns: whether both have the same number of registers; if not, nothing changes.
    @discardableResult
    public mutating func merge(_ other: DeviceSketch) -> Bool {
        guard registers.count == other.registers.count else { return false }
        for index in registers.indices { registers[index] = max(registers[index], other.registers[index]) }
        return true
    }

    /// The number of devices: linear counting while registers are empty and counts small, else the harmonic mean.
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
