import MLNumerics

/// A number that a checkpoint stores as its bytes in memory: every pattern of its bits is a value.
package protocol CheckpointNumber: BitwiseCopyable {}

extension UInt8: CheckpointNumber {}
extension UInt64: CheckpointNumber {}
extension Int32: CheckpointNumber {}
extension Int64: CheckpointNumber {}
extension Int: CheckpointNumber {}
extension Float: CheckpointNumber {}
extension Double: CheckpointNumber {}

/// Writes the bytes of checkpoints: values one after the other, little-endian, without padding.
///
/// Texts and arrays are preceded by the number of their bytes or elements in eight bytes; the `append` functions write
/// no number. `CheckpointReader` reads the values in the same order. The bytes of a format never change: checkpoints of
/// earlier versions are read.
package struct CheckpointWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Begins a state with its header, which `CheckpointReader.readHeader` checks.
    ///
    /// - Parameters:
    ///   - magic: Eight bytes that name the kind of state and the version of its format.
    ///   - fingerprint: The fingerprint of the data and settings that the state belongs to.
    ///   - iteration: The number of iterations that are done.
    package init(magic: String, fingerprint: UInt64, iteration: Int) {
        precondition(magic.utf8.count == 8)
        append(Array(magic.utf8))
        write(fingerprint)
        write(UInt64(iteration))
    }

    package mutating func write(_ value: some FixedWidthInteger) {
        bytes.append(littleEndian: value)
    }

    package mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }
    package mutating func write(_ value: Double) { write(value.bitPattern) }
    package mutating func write(_ value: Float) { write(value.bitPattern) }

    package mutating func write(_ text: String) { write(Array(text.utf8)) }

    package mutating func write(_ values: [some CheckpointNumber]) {
        write(UInt64(values.count))
        append(values)
    }

    package mutating func write(_ texts: [String]) {
        write(UInt64(texts.count))
        for text in texts { write(text) }
    }

    /// Writes a value or its absence.
    package mutating func write<Value>(_ value: Value?, _ body: (inout CheckpointWriter, Value) -> Void) {
        write(value != nil)
        if let value { body(&self, value) }
    }

    /// Writes numbers without their count.
    package mutating func append(_ values: [some CheckpointNumber]) { values.withUnsafeBytes { bytes += $0 } }

    /// Writes bytes without their count.
    package mutating func append(bytes values: some Collection<UInt8>) { bytes += values }
}
