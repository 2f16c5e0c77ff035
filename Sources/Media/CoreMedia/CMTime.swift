/// The state of a time: valid, infinite, indefinite.
public struct CMTimeFlags: OptionSet, Sendable, Hashable {
    /// The properties as a bit mask.
    public let rawValue: UInt32
    /// Makes properties from a bit mask.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The time is one; without it, it is invalid.
    public static let valid = CMTimeFlags(rawValue: 1)
    /// The value was rounded.
    public static let hasBeenRounded = CMTimeFlags(rawValue: 2)
    /// The time is later than every other.
    public static let positiveInfinity = CMTimeFlags(rawValue: 4)
    /// The time is earlier than every other.
    public static let negativeInfinity = CMTimeFlags(rawValue: 8)
    /// The time is not known.
    public static let indefinite = CMTimeFlags(rawValue: 16)
    /// Times without a number: infinite or indefinite.
    public static let impliedValueFlagsMask: CMTimeFlags = [.positiveInfinity, .negativeInfinity, .indefinite]
}

/// A time as a fraction: `value / timescale` seconds.
public struct CMTime: Sendable {
    /// The numerator.
    public var value: Int64
    /// The denominator: units a second.
    public var timescale: Int32
    /// Whether the time is valid, infinite or not known.
    public var flags: CMTimeFlags
    /// Distinguishes times with equal values, such as those of loops; 0 by default.
    public var epoch: Int64

    /// Creates an invalid time.
    public init() { (value, timescale, flags, epoch) = (0, 0, [], 0) }

    /// Creates a time of all its parts.
    public init(value: Int64, timescale: Int32, flags: CMTimeFlags, epoch: Int64) {
        (self.value, self.timescale, self.flags, self.epoch) = (value, timescale, flags, epoch)
    }

    /// Creates a time of `value / timescale` seconds; invalid if `timescale` is not positive.
    public init(value: Int64, timescale: Int32) {
        self.init(value: value, timescale: timescale, flags: timescale > 0 ? .valid : [], epoch: 0)
    }

    /// Creates a time of seconds, rounded to the nearest unit of `preferredTimescale`.
    ///
    /// Seconds that are infinite or too many for the scale give an infinite time, NaN and a scale that is not positive an
    /// invalid one.
    public init(seconds: Double, preferredTimescale: Int32) {
        guard preferredTimescale > 0, !seconds.isNaN else {
            self.init()
            return
        }
        let units = seconds * Double(preferredTimescale)
        guard let value = Int64(exactly: units.rounded()) else {
            self = seconds > 0 ? .positiveInfinity : .negativeInfinity
            return
        }
        let isRounded = Double(value) != units
        self.init(
            value: value,
            timescale: preferredTimescale,
            flags: isRounded ? [.valid, .hasBeenRounded] : .valid,
            epoch: 0
        )
    }

    /// An invalid time.
    public static let invalid = CMTime()
    /// A time that is not known.
    public static let indefinite = CMTime(value: 0, timescale: 0, flags: [.valid, .indefinite], epoch: 0)
    /// Later than every other time.
    public static let positiveInfinity = CMTime(value: 0, timescale: 0, flags: [.valid, .positiveInfinity], epoch: 0)
    /// Earlier than every other time.
    public static let negativeInfinity = CMTime(value: 0, timescale: 0, flags: [.valid, .negativeInfinity], epoch: 0)
    /// No time.
    public static let zero = CMTime(value: 0, timescale: 1)

    /// Whether this is a time.
    public var isValid: Bool { flags.contains(.valid) }
    /// Whether this is later than every other time.
    public var isPositiveInfinity: Bool { isValid && flags.contains(.positiveInfinity) }
    /// Whether this is earlier than every other time.
    public var isNegativeInfinity: Bool { isValid && flags.contains(.negativeInfinity) }
    /// Whether the time is not known.
    public var isIndefinite: Bool { isValid && flags.contains(.indefinite) }
    /// Whether this is a number of seconds.
    public var isNumeric: Bool { isValid && flags.isDisjoint(with: .impliedValueFlagsMask) && timescale > 0 }
    /// Whether the value was rounded.
    public var hasBeenRounded: Bool { isNumeric && flags.contains(.hasBeenRounded) }

    /// The seconds: infinite for infinite times, NaN for invalid and unknown ones.
    public var seconds: Double {
        if isNumeric { return Double(value) / Double(timescale) }
        if isPositiveInfinity { return .infinity }
        return isNegativeInfinity ? -.infinity : .nan
    }

    /// The sum; in the larger scale of both, or rounded to it where a common one is too fine.
    public static func + (left: CMTime, right: CMTime) -> CMTime { combined(left, right, 1) }

    /// The difference; in the larger scale of both, or rounded to it where a common one is too fine.
    public static func - (left: CMTime, right: CMTime) -> CMTime { combined(left, right, -1) }

    private static func combined(_ left: CMTime, _ right: CMTime, _ sign: Int64) -> CMTime {
        guard left.isNumeric, right.isNumeric else {
            guard left.isValid, right.isValid else { return .invalid }
            let seconds = left.seconds + Double(sign) * right.seconds
            if seconds.isNaN { return .indefinite }
            return seconds > 0 ? .positiveInfinity : .negativeInfinity
        }
        var (a, b) = (Int64(left.timescale), Int64(right.timescale))
        while b != 0 { (a, b) = (b, a % b) }
        let common = Int64(left.timescale) / a * Int64(right.timescale)
        if let scale = Int32(exactly: common) {
            let (x, isLarge) = left.value.multipliedReportingOverflow(by: common / Int64(left.timescale))
            let (y, isLargeToo) = right.value.multipliedReportingOverflow(by: common / Int64(right.timescale) * sign)
            let (sum, isTooLarge) = x.addingReportingOverflow(y)
            if !isLarge, !isLargeToo, !isTooLarge { return CMTime(value: sum, timescale: scale) }
        }
        return CMTime(
            seconds: left.seconds + Double(sign) * right.seconds,
            preferredTimescale: max(left.timescale, right.timescale)
        )
    }
}

extension CMTime: Comparable, Hashable {
    /// The order: negative infinity, numbers, positive infinity, not known, invalid.
    private var rank: Int {
        if isNumeric { return 1 }
        if isNegativeInfinity { return 0 }
        if isPositiveInfinity { return 2 }
        return isIndefinite ? 3 : 4
    }

    /// Whether the times are equal, in whatever scale; invalid times are equal.
    public static func == (left: CMTime, right: CMTime) -> Bool {
        guard left.rank == 1, right.rank == 1 else { return left.rank == right.rank }
        let x = left.value.multipliedFullWidth(by: Int64(right.timescale))
        let y = right.value.multipliedFullWidth(by: Int64(left.timescale))
        return left.epoch == right.epoch && x == y
    }

    /// Whether the first time is earlier.
    public static func < (left: CMTime, right: CMTime) -> Bool {
        guard left.rank == 1, right.rank == 1 else { return left.rank < right.rank }
        guard left.epoch == right.epoch else { return left.epoch < right.epoch }
        let x = left.value.multipliedFullWidth(by: Int64(right.timescale))
        let y = right.value.multipliedFullWidth(by: Int64(left.timescale))
        return (x.high, x.low) < (y.high, y.low)
    }

    /// Hashes the time in lowest terms, so that equal ones have equal hashes.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        guard rank == 1 else { return }
        var (a, b) = (value.magnitude, UInt64(timescale))
        while b != 0 { (a, b) = (b, a % b) }
        let divisor = Int64(clamping: max(a, 1))
        hasher.combine(value / divisor)
        hasher.combine(Int64(timescale) / divisor)
        hasher.combine(epoch)
    }
}

/// A time of `value / timescale` seconds.
public func CMTimeMake(value: Int64, timescale: Int32) -> CMTime { CMTime(value: value, timescale: timescale) }

/// A time of seconds, rounded to the nearest unit of `preferredTimescale`.
public func CMTimeMakeWithSeconds(_ seconds: Double, preferredTimescale: Int32) -> CMTime {
    CMTime(seconds: seconds, preferredTimescale: preferredTimescale)
}

/// The seconds of a time; infinite for infinite times, NaN for invalid and unknown ones.
public func CMTimeGetSeconds(_ time: CMTime) -> Double { time.seconds }

/// A part of a timeline.
public struct CMTimeRange: Sendable, Hashable {
    /// The first time.
    public var start: CMTime
    /// The length.
    public var duration: CMTime

    /// Creates an invalid range.
    public init() { (start, duration) = (.invalid, .invalid) }

    /// Creates a range of a length.
    public init(start: CMTime, duration: CMTime) { (self.start, self.duration) = (start, duration) }

    /// Creates a range up to an end, which it does not contain.
    public init(start: CMTime, end: CMTime) { self.init(start: start, duration: end - start) }

    /// An empty range at zero.
    public static let zero = CMTimeRange(start: .zero, duration: .zero)
    /// An invalid range.
    public static let invalid = CMTimeRange()

    /// The time after the range.
    public var end: CMTime { start + duration }
    /// Whether both times are valid and the length is a number of seconds from 0.
    public var isValid: Bool { start.isValid && duration.isValid && duration.isNumeric && duration >= .zero }
    /// Whether the range has no length.
    public var isEmpty: Bool { isValid && duration == .zero }

    /// Whether a time lies in the range; its end does not.
    public func containsTime(_ time: CMTime) -> Bool { isValid && start <= time && time < end }
}

/// A range of a length.
public func CMTimeRangeMake(start: CMTime, duration: CMTime) -> CMTimeRange {
    CMTimeRange(start: start, duration: duration)
}
