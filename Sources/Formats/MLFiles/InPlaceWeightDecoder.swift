import MLNumerics
import MLSpecification

/// Decodes neural networks without their large weights, which stay in the file: each is replaced by its location
/// (`PlacedWeights`).
///
/// Models decoded this way are for predictions only.
struct InPlaceWeightDecoder {
    /// The size in bytes below which weights are decoded.
    private static let threshold = 1 << 14
    private static let maximumDepth = 100

    private let bytes: UnsafeRawBufferPointer
    private let storage: UInt64

    /// The message without its large weights; `nil` when the bytes are no message, or have no large weights.
    ///
    /// `file` holds the bytes of a model and must be kept while the result is used.
    static func strippedOfWeights(_ file: TensorStorage) -> [UInt8]? {
        file.withBytes { bytes in
            let placing = InPlaceWeightDecoder(bytes: bytes, storage: StorageRegistry.number(for: file))
            return placing.message(0..<bytes.count, "Model", depth: 0)
        }
    }

    /// The rewritten message; `nil` when it is damaged or needs no change.
    private func message(_ range: Range<Int>, _ name: String, depth: Int) -> [UInt8]? {
        guard depth < Self.maximumDepth else { return nil }
        var result: [UInt8] = []
        var copied = range.lowerBound
        var position = range.lowerBound
        var values: Set<UInt64> = []
        func flush(to end: Int) {
            result.append(contentsOf: bytes[copied..<end])
        }
        while position < range.upperBound {
            let start = position
            guard let tag = varint(&position, range.upperBound) else { return nil }
            // Values in several pieces would have several locations.
            if name == "WeightParams", PlacedWeights.Field(rawValue: tag >> 3) != nil,
                !values.insert(tag >> 3).inserted
            {
                return nil
            }
            switch tag & 7 {
            case 0: guard varint(&position, range.upperBound) != nil else { return nil }
            case 1: position += 8
            case 5: position += 4
            case 2:
                guard let length = varint(&position, range.upperBound),
                    length <= UInt64(range.upperBound - position)
                else { return nil }
                let body = position..<position + Int(length)
                position = body.upperBound
                guard let change = replacement(tag >> 3, of: name, body, depth: depth) else { continue }
                flush(to: start)
                result += change
                copied = position
            default: return nil
            }
            guard position <= range.upperBound else { return nil }
        }
        guard copied > range.lowerBound else { return nil }
        flush(to: range.upperBound)
        return result
    }

    /// The replacement of a field of a message; `nil` when it stays.
    private func replacement(_ number: UInt64, of message: String, _ body: Range<Int>, depth: Int) -> [UInt8]? {
        if message == "WeightParams" {
            guard body.count >= Self.threshold, let field = PlacedWeights.Field(rawValue: number) else { return nil }
            return PlacedWeights(storage: storage, field: field, offset: body.lowerBound, byteCount: body.count).encoded
        }
        guard body.count >= Self.threshold,
            case .message(let name)? = WireSchema.shared.field(number, of: message)?.kind,
            name != "CustomLayerParams", let inner = self.message(body, name, depth: depth + 1)
        else { return nil }
        var result: [UInt8] = []
        PlacedWeights.append(number << 3 | 2, to: &result)
        PlacedWeights.append(UInt64(inner.count), to: &result)
        return result + inner
    }

    private func varint(_ position: inout Int, _ end: Int) -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard position < end else { return nil }
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}
