package import FoundationEssentials
import SwiftProtobuf

/// Bytes somewhere in memory, to decode a message from without copying them first.
///
/// The memory must outlive the call that decodes.  The type serves reading only: the initialisers and the writing
/// access that the protocol requires trap.
package struct ByteRegion: SwiftProtobufContiguousBytes {
    private let bytes: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    package init(repeating value: UInt8, count: Int) { preconditionFailure("a byte region is for reading") }

    package init<S: Sequence>(_ sequence: S) where S.Element == UInt8 {
        preconditionFailure("a byte region is for reading")
    }

    package var count: Int { bytes.count }

    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { try body(bytes) }

    package mutating func withUnsafeMutableBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer) throws -> R
    ) rethrows -> R {
        preconditionFailure("a byte region is for reading")
    }
}

/// The contents of `bytes` fields for modules that do not know their Swift type.
package enum SpecBytes {
    /// Lends the bytes of a field.
    package static func with<R>(_ field: Data, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try field.withUnsafeBytes(body)
    }

    package static func count(_ field: Data) -> Int { field.count }

    package static func array(_ field: Data) -> [UInt8] { [UInt8](field) }

    /// A value for a `bytes` field.
    package static func field(_ bytes: some Sequence<UInt8>) -> Data { Data(bytes) }
}
