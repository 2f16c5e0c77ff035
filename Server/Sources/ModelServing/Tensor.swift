package import NIOCore

/// A named array, as requests and answers hold it.
package struct Tensor: Sendable {
    /// The elements, row-major.
    package enum Elements: Sendable {
        /// Numbers, little-endian.
        case raw(ByteBuffer)
        /// Elements of the type `BYTES`.
        case strings([ByteBuffer])
    }

    package let name: String
    package let type: TensorType
    package let shape: [Int]
    package let elements: Elements

    package init(_ name: String, _ type: TensorType, _ shape: [Int], _ elements: Elements) {
        self.name = name
        self.type = type
        self.shape = shape
        self.elements = elements
    }

    /// The product of the extents; `nil` when it is too large for a number.
    static func count(of shape: [Int]) -> Int? {
        var count = 1
        for extent in shape {
            let (product, overflows) = count.multipliedReportingOverflow(by: extent)
            guard !overflows else { return nil }
            count = product
        }
        return count
    }

    /// The number of elements.
    var count: Int { shape.reduce(1, *) }

    /// The size in bytes without the lengths of strings.
    var byteCount: Int {
        switch elements {
        case .raw(let bytes): bytes.readableBytes
        case .strings(let strings): strings.reduce(0) { $0 + $1.readableBytes }
        }
    }

    /// The elements as the binary extension sends them: strings follow their lengths, 4 bytes each.
    var binary: ByteBuffer {
        switch elements {
        case .raw(let bytes): return bytes
        case .strings(let strings):
            var result = ByteBuffer()
            for string in strings {
                result.writeInteger(UInt32(truncatingIfNeeded: string.readableBytes), endianness: .little)
                result.writeImmutableBuffer(string)
            }
            return result
        }
    }
}

/// A shape as messages show it: `[1, 3, 224, 224]`.
func shapeText(_ shape: [Int]) -> String { "[\(shape.map(String.init).joined(separator: ", "))]" }
