import MLNumerics

/// Writes numbers as little-endian bytes, eight each.
struct StateWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func add(_ value: Double) { add(value.bitPattern) }

    mutating func add(_ values: [Double]) { for value in values { add(value) } }
}

/// Reads what `StateWriter` wrote, from untrusted bytes.
struct StateReader {
    static var malformed: ModelError {
        ModelError(.malformed, "the state of a linear fit is damaged; start the fit again")
    }

    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func integer() throws(ModelError) -> UInt64 {
        guard bytes.count - place >= 8 else { throw Self.malformed }
        var value: UInt64 = 0
        for index in 0..<8 { value |= UInt64(bytes[place + index]) << (8 * UInt64(index)) }
        place += 8
        return value
    }

    /// Reads a finite number.
    mutating func number() throws(ModelError) -> Double {
        let value = Double(bitPattern: try integer())
        guard value.isFinite else { throw Self.malformed }
        return value
    }

    mutating func numbers(_ count: Int) throws(ModelError) -> [Double] {
        guard (bytes.count - place) / 8 >= count else { throw Self.malformed }
        var values: [Double] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try number()) }
        return values
    }
}
