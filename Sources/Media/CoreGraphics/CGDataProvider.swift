/// The encoded or raw bytes of an image.
public final class CGDataProvider: Sendable {
    let bytes: Data

    init(bytes: Data) { self.bytes = bytes }

    /// Provides the bytes of `data`; never `nil`.
    public init?(data: CFData) { bytes = Data(referencing: data) }

    /// Copies `size` bytes and then releases the caller's memory; `nil` when `size` is negative.
    ///
    /// - Parameters:
    ///   - info: Passed on to `releaseData`.
    ///   - data: The bytes to copy.
    ///   - size: The number of bytes.
    ///   - releaseData: Called before the initialiser returns, with `info`, `data` and `size`.
    public init?(
        dataInfo info: UnsafeMutableRawPointer?,
        data: UnsafeRawPointer,
        size: Int,
        releaseData: (UnsafeMutableRawPointer?, UnsafeRawPointer, Int) -> Void
    ) {
        guard size >= 0 else { return nil }
        bytes = Data(bytes: data, count: size)
        releaseData(info, data, size)
    }

    /// Reads a file at once; `nil` when it cannot be read.
    public init?(url: CFURL) {
        guard let contents = try? Data(contentsOf: url as URL) else { return nil }
        bytes = contents
    }

    /// The bytes.
    public var data: CFData? { bytes as NSData }
}
