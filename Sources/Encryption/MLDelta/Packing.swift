import CZstandard
import MLNumerics

/// Frames of Zstandard.
enum Packing {
    /// The compression level; noise does not get smaller at higher ones.
    static let level: Int32 = 16
    static let quickLevel: Int32 = 1

    static func pack(_ bytes: UnsafeRawBufferPointer, level: Int32 = level) -> [UInt8] {
        let bound = czstandard_bound(bytes.count)
        return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            count = czstandard_pack(
                bytes.assumingMemoryBound(to: UInt8.self).baseAddress,
                bytes.count,
                buffer.baseAddress,
                bound,
                level
            )
            precondition(count > 0, "a buffer of the bound's size takes every frame")
        }
    }

    /// Throws unless the frame unpacks to exactly as many bytes as `target` has.
    static func unpack(
        _ frame: UnsafeRawBufferPointer,
        into target: UnsafeMutableRawBufferPointer
    ) throws(ModelError) {
        let isRight = czstandard_expand(
            frame.assumingMemoryBound(to: UInt8.self).baseAddress,
            frame.count,
            target.assumingMemoryBound(to: UInt8.self).baseAddress,
            target.count
        )
        guard isRight == 1 else { throw DeltaSegment.malformed }
    }
}
