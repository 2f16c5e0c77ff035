#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The bytes of a field, at one address for as long as the object lives.
///
/// `@unchecked Sendable`: the bytes are never written.
package final class WeightBytes: @unchecked Sendable {
    package let address: UnsafeRawPointer
    package let count: Int
    private let data: Data
    private let copy: UnsafeMutableRawPointer?

    /// A copy of the `count` bytes at an address.
    package convenience init(copying address: UnsafeRawPointer, count: Int) {
        self.init(Data(UnsafeRawBufferPointer(start: address, count: count)))
    }

    /// Shares the storage of `data`; data that `Data` keeps inside its own value is copied.
    init(_ data: Data) {
        self.data = data
        count = data.count
        let shared = data.withUnsafeBytes { $0.baseAddress }
        if data.count > 64, let shared {
            address = shared
            copy = nil
        } else {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(data.count, 1), alignment: 16)
            data.withUnsafeBytes { source in
                if let base = source.baseAddress { bytes.copyMemory(from: base, byteCount: source.count) }
            }
            address = UnsafeRawPointer(bytes)
            copy = bytes
        }
    }

    deinit { copy?.deallocate() }

    package var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: address, count: count) }
}

extension SpecWeightParams {
    /// The half-precision values, two bytes each, `nil` when the field is empty.
    package var float16Bytes: WeightBytes? { float16Value.isEmpty ? nil : WeightBytes(float16Value) }
    /// The quantised values, packed most significant bit first, `nil` when the field is empty.
    package var rawBytes: WeightBytes? { rawValue.isEmpty ? nil : WeightBytes(rawValue) }
    /// The signed 8-bit values, `nil` when the field is empty.
    package var int8Bytes: WeightBytes? { int8RawValue.isEmpty ? nil : WeightBytes(int8RawValue) }

    /// True when the message carries no values in any form.
    package var isEmpty: Bool {
        floatValue.isEmpty && float16Value.isEmpty && rawValue.isEmpty && int8RawValue.isEmpty && placed == nil
    }
}
