import Foundation
import TabularData

/// Capsules of Python that hold a stream of Arrow data.
enum StreamCapsule {
    private typealias GetPointer =
        @convention(c) (UnsafeMutableRawPointer, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?

    /// The functions of the interpreter that loaded this library.
    private static let getPointer: GetPointer? = {
        guard let symbol = dlsym(nil, "PyCapsule_GetPointer") else { return nil }
        return unsafeBitCast(symbol, to: GetPointer.self)
    }()

    /// The offset of `release` in an `ArrowArrayStream`, whose first three members are functions, too.
    private static let releaseOffset = 3 * MemoryLayout<UnsafeRawPointer>.stride
    private typealias Release = @convention(c) (UnsafeMutableRawPointer) -> Void

    /// The size of an `ArrowArrayStream`: four functions and the data of its owner.
    private static let size = 5 * MemoryLayout<UnsafeRawPointer>.stride

    /// A copy of a table as a stream, in memory allocated by `malloc`.
    static func stream(of frame: DataFrame) throws -> UnsafeMutableRawPointer {
        guard let stream = calloc(1, size) else { throw TrainingError("no memory for \(size) bytes") }
        do { try frame.give(arrowStream: stream) } catch {
            free(stream)
            throw error
        }
        return stream
    }

    /// Releases the stream of a capsule, unless someone took it, and frees its memory.
    static func destroy(_ capsule: UnsafeMutableRawPointer?) {
        guard let capsule, let stream = getPointer?(capsule, "arrow_array_stream") else { return }
        let release = stream.load(fromByteOffset: releaseOffset, as: UnsafeRawPointer?.self)
        if let release { unsafeBitCast(release, to: Release.self)(stream) }
        free(stream)
    }
}
