/// The bytes of an image.
public final class CGDataProvider: Sendable {
    let bytes: Data

    init(bytes: Data) { self.bytes = bytes }

    public init?(data: CFData) { bytes = Data(referencing: data) }

    /// Copies `size` bytes, then gives the memory back by `releaseData`.
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

    /// The contents of a file.
    public init?(url: CFURL) {
        guard let contents = try? Data(contentsOf: url as URL) else { return nil }
        bytes = contents
    }

    public var data: CFData? { bytes as NSData }
}
