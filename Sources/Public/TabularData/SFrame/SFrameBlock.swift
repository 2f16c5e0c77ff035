/// The header of a column's block, and the bytes of its values.
struct SFrameBlock {
    let rows: Int
    /// The type of its values; `undefined` when all are missing, nil when they are of several types.
    let kind: SFrameKind?
    /// One bit per row, set when its value is missing; nil when none is.
    private(set) var missing: [UInt64]?
    /// The number of values that are not missing.
    private(set) var present: Int
    let isMarked: Bool
    /// The bytes of the values.
    var bytes: SFrameBytes

    init(_ position: SFrameBlockLocation, _ bytes: SFrameBytes) throws(SFrameReadingError) {
        var bytes = bytes
        rows = position.rows
        present = rows
        isMarked = position.flags.contains(.marked)
        let types = try bytes.byte()
        if position.flags.contains(.severalTypes) {
            kind = nil
            let count = try bytes.count(of: 1)
            guard count == rows else { throw .badEncoding("a block of \(rows) rows holds \(count) values") }
            self.bytes = bytes
            return
        }
        guard types > 0 || rows == 0 else { throw .badEncoding("a block of \(rows) rows holds no values") }
        guard types <= 2 else { throw .badEncoding("a block states that it contains \(types) types") }
        guard types > 0 else {
            kind = .undefined
            self.bytes = bytes
            return
        }
        let code = Int(try bytes.byte())
        guard let kind = SFrameKind(rawValue: code) else { throw .unsupportedType(code) }
        self.kind = kind
        if types == 2 {
            let words = (rows + 63) / 64
            let source = try bytes.take(words * 8)
            var missing: [UInt64] = []
            missing.reserveCapacity(words)
            for word in 0..<words {
                var bits = UInt64(littleEndian: source.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self))
                if word == words - 1, rows % 64 > 0 { bits &= 1 << UInt64(rows % 64) - 1 }
                missing.append(bits)
                present -= bits.nonzeroBitCount
            }
            self.missing = missing
        } else if kind == .undefined {
            present = 0
        }
        self.bytes = bytes
    }

    func isMissing(_ row: Int) -> Bool {
        if kind == .undefined { return true }
        guard let missing else { return false }
        return missing[row >> 6] >> UInt64(row & 63) & 1 == 1
    }
}
