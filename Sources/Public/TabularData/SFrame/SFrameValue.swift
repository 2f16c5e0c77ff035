package import Foundation

/// A value of any type.
package indirect enum SFrameValue: Sendable {
    case integer(Int)
    case float(Double)
    case string(String)
    case vector([Double])
    case list([SFrameValue])
    case dictionary([(key: SFrameValue, value: SFrameValue)])
    case date(Date)
    case undefined
    case array(ShapedData<Double>)

    /// Returns the value in the form that lists and dictionaries in a frame hold.
    ///
    /// - Returns: Nil for a missing value.
    /// - Throws: `SFrameReadingError` for keys that Swift's dictionaries cannot have.
    func any() throws(SFrameReadingError) -> Any? {
        switch self {
        case .integer(let value): value
        case .float(let value): value
        case .string(let value): value
        case .vector(let value): value
        case .list(let values): try Self.elements(values)
        case .dictionary(let entries): try Self.entries(entries)
        case .date(let value): value
        case .undefined: nil
        case .array(let value): value
        }
    }

    static func elements(_ values: [SFrameValue]) throws(SFrameReadingError) -> [Any?] {
        var list: [Any?] = []
        list.reserveCapacity(values.count)
        for value in values { list.append(try value.any()) }
        return list
    }

    /// Returns a dictionary in which the last of several equal keys counts.
    static func entries(
        _ entries: [(key: SFrameValue, value: SFrameValue)]
    ) throws(SFrameReadingError) -> [AnyHashable: Any?] {
        var dictionary: [AnyHashable: Any?] = [:]
        for (key, value) in entries {
            guard let hashable = try key.any() as? AnyHashable else {
                throw .unsupportedLayout("a key of a dictionary is missing, a list or a dictionary")
            }
            dictionary.updateValue(try value.any(), forKey: hashable)
        }
        return dictionary
    }
}

extension SFrameBytes {
    /// The greatest depth of nesting that is accepted.
    static let deepest = 64

    /// Reads a value after its type.
    mutating func value(depth: Int = 0) throws(SFrameReadingError) -> SFrameValue {
        var code = try byte()
        if code < 128 {
            // Older versions write four bytes here whose content follows from the type.
            _ = try take(4)
        } else {
            code -= 128
        }
        guard let kind = SFrameKind(rawValue: Int(code)) else { throw .unsupportedType(Int(code)) }
        return try value(of: kind, depth: depth)
    }

    /// Reads a value of a known type.
    mutating func value(of kind: SFrameKind, depth: Int = 0) throws(SFrameReadingError) -> SFrameValue {
        guard depth <= Self.deepest else {
            throw .unsupportedLayout("lists are nested deeper than \(Self.deepest)")
        }
        switch kind {
        case .integer: return .integer(Int(bitPattern: UInt(try word())))
        case .float: return .float(Double(bitPattern: try word()))
        case .string: return .string(try string())
        case .vector: return .vector(try doubles())
        case .list:
            let count = try count(of: 1)
            var values: [SFrameValue] = []
            for _ in 0..<count { values.append(try value(depth: depth + 1)) }
            return .list(values)
        case .dictionary:
            let count = try count(of: 2)
            var entries: [(key: SFrameValue, value: SFrameValue)] = []
            for _ in 0..<count { entries.append((try value(depth: depth + 1), try value(depth: depth + 1))) }
            return .dictionary(entries)
        case .date: return .date(try date())
        case .undefined: return .undefined
        case .image: throw .unsupportedType(SFrameKind.image.rawValue)
        case .array:
            let mark = try byte()
            guard mark == 0 else { throw .badEncoding("an array has the unknown encoding \(mark)") }
            let shape = try extents()
            let strides = try extents()
            return .array(try Self.array(shape, strides, try doubles()))
        }
    }

    private mutating func doubles() throws(SFrameReadingError) -> [Double] {
        let count = try count(of: 8)
        let source = try take(count * 8)
        return (0..<count).map {
            Double(bitPattern: UInt64(littleEndian: source.loadUnaligned(fromByteOffset: $0 * 8, as: UInt64.self)))
        }
    }

    private mutating func extents() throws(SFrameReadingError) -> [UInt64] {
        let count = try count(of: 8)
        var extents: [UInt64] = []
        for _ in 0..<count { extents.append(try word()) }
        return extents
    }

    /// Returns an array with the elements `contents`.
    ///
    /// Extents and strides that lead to elements that do not exist, or to one more than once, are an error: the array
    /// would be larger than the data in the file.
    static func array(
        _ shape: some Collection<UInt64>,
        _ strides: some Collection<UInt64>,
        _ contents: [Double]
    ) throws(SFrameReadingError) -> ShapedData<Double> {
        let wrong = SFrameReadingError.badEncoding("the extents of an array do not fit its \(contents.count) elements")
        guard shape.count == strides.count else { throw wrong }
        let isEmpty = shape.contains(0)
        // Without elements the other extents still make strides.
        let maximum = isEmpty ? UInt64(Int32.max) : Swift.max(UInt64(contents.count), 1)
        var (last, count): (UInt64, UInt64) = (0, 1)
        for (extent, stride) in zip(shape, strides) {
            let (product, isMore) = count.multipliedReportingOverflow(by: Swift.max(extent, 1))
            guard !isMore, product <= maximum, stride <= UInt64(Int.max) else { throw wrong }
            count = product
            if isEmpty { continue }
            let (step, overflows) = (extent - 1).multipliedReportingOverflow(by: stride)
            let (sum, exceeds) = last.addingReportingOverflow(step)
            guard !overflows, !exceeds else { throw wrong }
            last = sum
        }
        guard isEmpty || last < UInt64(contents.count) || (shape.isEmpty && contents.isEmpty) else { throw wrong }
        return ShapedData(shape: shape.map { Int($0) }, strides: strides.map { Int($0) }, contents: contents)
    }

    /// Reads a date.
    ///
    /// It has seconds since 1970 in 56 bits, the time zone in 8 and microseconds. Older versions do not write these;
    /// their time zones are below 25.
    private mutating func date() throws(SFrameReadingError) -> Date {
        let word = Int64(bitPattern: try word())
        let zone = word >> 56
        let seconds = (word << 8) >> 8
        var microseconds: Int32 = 0
        if abs(zone) >= 25 {
            microseconds = Int32(littleEndian: try take(4).loadUnaligned(as: Int32.self))
            guard (0..<1_000_000).contains(microseconds) else {
                throw .badEncoding("a date has \(microseconds) microseconds")
            }
        }
        // Dates count from 2001, and so tell microseconds apart for longer.
        let reference = Double(seconds) - Date.timeIntervalBetween1970AndReferenceDate
        return Date(timeIntervalSinceReferenceDate: reference + Double(microseconds) / 1e6)
    }
}
