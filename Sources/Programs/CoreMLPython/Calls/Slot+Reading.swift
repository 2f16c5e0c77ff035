import CoreML
import Foundation
import MLEngine
import MLNumerics

/// Stands for the owner of memory that is only lent for one call.
private final class MemoryOwner: Sendable {}

private let lender = MemoryOwner()

extension Slot {
    /// The value for a feature, over the caller's memory where it can be; `nil` for none.
    func value(for feature: MLFeatureDescription) throws -> FeatureData? {
        switch kind {
        case .absent?: return nil
        case .integer?: return .int64(Int64(self[6]))
        case .number?: return .double(number)
        case .text?: return .string(String(decoding: bytes(self[2]), as: UTF8.self))
        case .array?: return .tensor(try tensor(feature.name))
        case .image?: return .image(try image(feature.name))
        case .encodedImage?: return try feature.engineImage(encoded: Data(bytes(self[2])))
        case .textScores?:
            let numbers = list(1, of: Double.self)
            return .dictionary(.strings(Dictionary(zip(texts(self[2]), numbers), uniquingKeysWith: { $1 })))
        case .integerScores?:
            let numbers = list(1, of: Double.self)
            return .dictionary(.integers(Dictionary(zip(list(4, of: Int64.self), numbers), uniquingKeysWith: { $1 })))
        case .texts?: return .sequence(.strings(texts(self[2])))
        case .integers?: return .sequence(.integers(Array(list(1, of: Int64.self))))
        default: throw BorderError.slot(feature.name, rawKind)
        }
    }

    /// The values of a feature for `count` examples; `nil` for none.
    func column(for feature: MLFeatureDescription, count: Int) throws -> FeatureColumn? {
        switch kind {
        case .absent?: return nil
        case .numberColumn?: return .doubles(Array(list(1, of: Double.self, count: count)))
        case .integerColumn?: return .integers(Array(list(1, of: Int64.self, count: count)))
        case .textColumn?: return .strings(texts(count))
        case .arrayColumn?: return .arrays(try tensor(feature.name))
        case .slotColumn?:
            guard let first = address(1) else { throw BorderError.slot(feature.name, rawKind) }
            return FeatureColumn(
                try (0..<count).map { index in
                    guard let value = try Slot(first, index).value(for: feature) else {
                        throw BorderError.exampleWithoutValue(feature.name, index)
                    }
                    return value
                }
            )
        default: throw BorderError.slot(feature.name, rawKind)
        }
    }

    /// A copy of the array in the slot.
    func copiedTensor(_ name: String) throws -> Tensor {
        guard kind == .array else { throw BorderError.slot(name, rawKind) }
        let lent = try tensor(name)
        let copy = Tensor(uninitialized: lent.scalarType, shape: lent.shape)
        copy.address.copyMemory(from: lent.address, byteCount: lent.byteCount)
        return copy
    }

    private func bytes(_ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: address(1), count: address(1) == nil ? 0 : count)
    }

    private func list<T>(_ word: Int, of type: T.Type, count: Int? = nil) -> UnsafeBufferPointer<T> {
        guard let first = address(word) else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(start: first.assumingMemoryBound(to: type), count: count ?? self[2])
    }

    private func texts(_ count: Int) -> [String] {
        let ends = list(4, of: Int64.self, count: count)
        guard let all = address(5) else { return ends.map { _ in "" } }
        var start = 0
        return ends.map { end in
            defer { start = Int(end) }
            return String(decoding: UnsafeRawBufferPointer(start: all + start, count: Int(end) - start), as: UTF8.self)
        }
    }

    private func tensor(_ name: String) throws -> Tensor {
        guard let type = MLMultiArrayDataType(rawValue: self[3]) else { throw BorderError.dataType(self[3]) }
        let shape = Array(list(4, of: Int.self))
        guard let elements = address(1) ?? (shape.contains(0) ? UnsafeMutableRawPointer(bitPattern: 64) : nil) else {
            throw BorderError.slot(name, rawKind)
        }
        let bytes = type.scalarType.byteCount(of: shape.reduce(1, *))
        return Tensor(
            scalarType: type.scalarType,
            shape: shape,
            storage: TensorStorage(borrowing: elements, byteCount: bytes, release: nil)
        )
    }

    private func image(_ name: String) throws -> ImageBuffer {
        guard let order = PixelOrder(rawValue: self[3]) else { throw BorderError.pixelLayout(Int32(clamping: self[3])) }
        guard let pixels = address(1), self[2] > 0, self[4] > 0, self[5] >= self[2] * order.format.bytesPerPixel else {
            throw BorderError.emptyPicture(name, self[2], self[4])
        }
        return ImageBuffer(
            width: self[2],
            height: self[4],
            bytesPerRow: self[5],
            format: order.format,
            address: pixels,
            owner: lender
        )
    }
}
