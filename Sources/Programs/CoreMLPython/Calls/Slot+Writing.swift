import CoreML
import Foundation
import MLEngine
import MLNumerics

/// Memory of one output's value, which the caller reads until the next value is written.
final class OutputBuffer {
    /// The value whose memory the slot points to.
    private var kept: FeatureData?
    private var numbers: UnsafeMutableBufferPointer<Double>?
    private var keys: FeatureKeys = .none
    private var text = TextBlock()

    /// The keys of the last dictionary, in the order of its numbers.
    private enum FeatureKeys: Equatable {
        case none
        case strings([String])
        case integers([Int64])
    }

    deinit { numbers?.deallocate() }

    /// Writes the value of an output; an array goes to the caller's memory where the slot offers some that fits.
    ///
    /// On return word f says whether it did, or, for dictionaries, whether the keys are those of the last one.
    /// - Throws: `BorderError.backing` when the caller insists on memory (word f is 2) that does not fit.
    func write(_ data: FeatureData?, to slot: Slot, as output: MLFeatureDescription) throws {
        guard let data else {
            slot.setKind(.absent)
            return
        }
        switch data {
        case .int64(let value):
            slot.setKind(.integer)
            slot[6] = Int(value)
        case .double(let value):
            slot.setKind(.number)
            slot.number = value
        case .string(let value):
            slot.setKind(.text)
            text.fill([value])
            slot.setAddress(1, text.bytes)
            slot[2] = text.byteCount
        case .tensor(let tensor): try write(tensor, to: slot, as: output)
        case .image(let image):
            kept = data
            slot.setKind(.image)
            slot.setAddress(1, image.address)
            slot[2] = image.width
            slot[3] = PixelOrder(image.format).rawValue
            slot[4] = image.height
            slot[5] = image.bytesPerRow
        case .dictionary(.strings(let values)): write(values, to: slot)
        case .dictionary(.integers(let values)): write(values, to: slot)
        case .sequence(.strings(let values)):
            slot.setKind(.texts)
            text.fill(values)
            slot[2] = values.count
            slot.setAddress(4, text.ends)
            slot.setAddress(5, text.bytes)
        case .sequence(.integers(let values)):
            slot.setKind(.integers)
            let copy = Tensor(elements: values, scalarType: .int64, shape: [values.count])
            kept = .tensor(copy)
            slot.setAddress(1, copy.address)
            slot[2] = values.count
        }
    }

    private func write(_ tensor: Tensor, to slot: Slot, as output: MLFeatureDescription) throws {
        let type = output.arrayType(of: tensor)
        let shape = tensor.shape
        guard shape.count <= Slot.maximumRank, let extents = slot.address(4)?.assumingMemoryBound(to: Int.self) else {
            throw BorderError.rank(output.name, shape.count)
        }
        if slot.kind == .array, let target = slot.address(1) {
            let offered = UnsafeBufferPointer(start: extents, count: slot[2])
            if offered.elementsEqual(shape), slot[3] == type.rawValue {
                if tensor.address != target {
                    let converted = tensor.converted(to: type.scalarType)
                    target.copyMemory(from: converted.address, byteCount: converted.byteCount)
                    withExtendedLifetime(converted) {}
                }
                slot[6] = 1
                return
            }
            guard slot[6] != 2 else { throw BorderError.backing(output.name, Array(offered), shape) }
        }
        let converted = tensor.converted(to: type.scalarType)
        kept = .tensor(converted)
        slot.setKind(.array)
        slot.setAddress(1, converted.address)
        slot[2] = shape.count
        slot[3] = type.rawValue
        for (axis, extent) in shape.enumerated() { extents[axis] = extent }
        slot[6] = 0
    }

    private func write(_ values: [String: Double], to slot: Slot) {
        slot.setKind(.textScores)
        slot[6] = 1
        var names: [String] = []
        if case .strings(let last) = keys { names = last }
        if !copy(values, names) {
            slot[6] = 0
            names = values.keys.sorted()
            keys = .strings(names)
            text.fill(names)
            _ = copy(values, names)
        }
        slot.setAddress(1, numbers?.baseAddress)
        slot[2] = names.count
        slot.setAddress(4, text.ends)
        slot.setAddress(5, text.bytes)
    }

    private func write(_ values: [Int64: Double], to slot: Slot) {
        slot.setKind(.integerScores)
        slot[6] = 1
        var names: [Int64] = []
        if case .integers(let last) = keys { names = last }
        if !copy(values, names) {
            slot[6] = 0
            names = values.keys.sorted()
            keys = .integers(names)
            _ = copy(values, names)
            let copy = Tensor(elements: names, scalarType: .int64, shape: [names.count])
            kept = .tensor(copy)
        }
        slot.setAddress(1, numbers?.baseAddress)
        slot[2] = names.count
        if case .tensor(let names)? = kept { slot.setAddress(4, names.address) }
    }

    /// Copies the numbers in the order of the keys; false when the keys are others.
    private func copy<Key>(_ values: [Key: Double], _ names: [Key]) -> Bool {
        guard values.count == names.count, keys != .none else { return false }
        if numbers?.count ?? -1 < names.count {
            numbers?.deallocate()
            numbers = .allocate(capacity: max(names.count, 1))
        }
        for (index, name) in names.enumerated() {
            guard let value = values[name] else { return false }
            numbers?[index] = value
        }
        return true
    }
}

extension MLFeatureDescription {
    /// The element type that an output has outside of the engine.
    func arrayType(of tensor: Tensor) -> MLMultiArrayDataType {
        if let constraint = multiArrayConstraint { return constraint.dataType }
        if let type = MLMultiArrayDataType(tensor.scalarType) { return type }
        return tensor.scalarType.isInteger || tensor.scalarType == .bool ? .int32 : .float32
    }
}

/// Strings one after the other, with the place where each ends.
struct TextBlock {
    private var storage: Tensor?
    private var locations: Tensor?
    private(set) var byteCount = 0

    var bytes: UnsafeMutableRawPointer? { storage?.address }
    var ends: UnsafeMutableRawPointer? { locations?.address }

    mutating func fill(_ texts: [String]) {
        var all: [UInt8] = []
        var ends: [Int64] = []
        for text in texts {
            all.append(contentsOf: text.utf8)
            ends.append(Int64(all.count))
        }
        byteCount = all.count
        storage = Tensor(elements: all, scalarType: .uint8, shape: [all.count])
        locations = Tensor(elements: ends, scalarType: .int64, shape: [ends.count])
    }
}
