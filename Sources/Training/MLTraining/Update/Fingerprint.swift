package import MLFeatures
import MLNumerics

/// The 64-bit FNV-1a hash of the added data, to tell files and data apart; it does not resist deliberate collisions.
package struct Fingerprint: Sendable {
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    package init() {}

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        var hash = value
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        value = hash
    }

    /// Adds eight bytes at a time: as good for telling data apart, and faster.
    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var hash = value
        var offset = 0
        while offset + 8 <= bytes.count {
            hash = (hash ^ bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) &* 0x100_0000_01B3
            hash ^= hash >> 29
            offset += 8
        }
        value = hash
        add(bytes[offset...])
        add(bytes.count)
    }

    package mutating func add(_ number: Int) { withUnsafeBytes(of: number.littleEndian) { add($0[...]) } }

    package mutating func add(_ text: String) {
        add(text.utf8)
        add(text.utf8.count)
    }

    package mutating func add(_ data: FeatureData) {
        switch data {
        case .int64(let value): add(Int(value))
        case .double(let value): add(Int(bitPattern: UInt(value.bitPattern)))
        case .string(let text): add(text)
        case .tensor(let tensor):
            add(tensor.shape.description)
            for text in tensor.scalarType == .string ? tensor.strings : [] { add(text) }
            if tensor.scalarType != .string {
                add(UnsafeRawBufferPointer(start: tensor.address, count: tensor.byteCount))
            }
            withExtendedLifetime(tensor) {}
        case .image(let image):
            add(image.width)
            add(image.height)
            for row in 0..<image.height {
                let start = image.address + row * image.bytesPerRow
                add(UnsafeRawBufferPointer(start: start, count: image.width * image.format.bytesPerPixel))
            }
            withExtendedLifetime(image.owner) {}
        case .dictionary(.strings(let values)):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                add(key)
                add(.double(value))
            }
        case .dictionary(.integers(let values)):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                add(Int(key))
                add(.double(value))
            }
        case .sequence(.strings(let values)): for text in values { add(text) }
        case .sequence(.integers(let values)): for number in values { add(Int(number)) }
        }
    }
}
