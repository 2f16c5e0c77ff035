package import MLNumerics

/// A weight file of version 2 of the blob storage format, read in place.
///
/// The file starts with 64 bytes: the number of blobs and the version, as 32-bit integers. A blob has 64 bytes of
/// metadata (magic number, data type, byte count, offset of the data from the start of the file, and, for elements of
/// less than a byte, the number of unused bits in the last byte) and the packed elements. Writers start both at
/// multiples of 64; reading does not require it. The rest of the 64 bytes has no meaning and may hold anything. All
/// numbers are little-endian.
package struct WeightFile: Sendable {
    static let alignment = 64
    static let magic: UInt32 = 0xDEAD_BEEF
    static let version: UInt32 = 2

    package let path: String
    package let storage: TensorStorage
    /// The number of blobs that the header states.
    package let blobCount: Int

    package init(path: String) throws(ModelError) {
        try self.init(MappedFile(path).storage, path: path)
    }

    /// Reads a weight file in memory; `path` is its name in messages.
    package init(_ storage: TensorStorage, path: String) throws(ModelError) {
        self.path = path
        self.storage = storage
        guard storage.byteCount >= Self.alignment else {
            throw ModelError(
                .malformed,
                "A weight file has at least 64 bytes, this one \(storage.byteCount): it was cut off; copy it again.",
                at: path,
                "header"
            )
        }
        blobCount = Int(Self.integer(UInt32.self, storage, 0))
        let version = Self.integer(UInt32.self, storage, 4)
        guard version == Self.version else {
            throw ModelError(
                version == 1 ? .unsupported : .malformed,
                "The version of the weight file is \(version), expected 2: "
                    + "convert the model again with a newer coremltools, or check that this is a weight file.",
                at: path,
                "header.version"
            )
        }
    }

    /// The blob whose metadata is at `offset`.
    package func blob(at offset: UInt64) throws(ModelError) -> WeightBlob {
        let size = UInt64(storage.byteCount)
        guard offset >= 64, offset <= size, size - offset >= 64 else {
            throw malformed(
                "offset",
                offset,
                "no blob can be described at \(offset) in a file of \(size) bytes"
            )
        }
        let start = Int(offset)
        let magic = Self.integer(UInt32.self, storage, start)
        guard magic == Self.magic else {
            throw malformed(
                "magic",
                offset,
                "0x\(String(magic, radix: 16)) was found instead of 0xdeadbeef: not a blob"
            )
        }
        let typeNumber = Self.integer(UInt32.self, storage, start + 4)
        guard let type = BlobDataType(rawValue: typeNumber) else {
            throw malformed("dataType", offset, "the number \(typeNumber) is not a known type")
        }
        let byteCount = Self.integer(UInt64.self, storage, start + 8)
        let dataOffset = Self.integer(UInt64.self, storage, start + 16)
        // Before iOS 18 introduced sub-byte types nothing was written here: older files hold arbitrary bytes.
        let unusedBits = type.bitWidth < 8 ? Self.integer(UInt64.self, storage, start + 24) : 0
        guard dataOffset <= size, byteCount <= size - dataOffset else {
            throw malformed(
                "sizeInBytes",
                offset,
                "\(byteCount) bytes at \(dataOffset) are not inside a file of \(size) bytes"
            )
        }
        let bits = byteCount * 8
        guard unusedBits <= bits, unusedBits < 8, (bits - unusedBits) % UInt64(type.bitWidth) == 0 else {
            throw malformed(
                type.bitWidth < 8 ? "paddingInBits" : "sizeInBytes",
                offset,
                "\(byteCount) bytes without their last \(unusedBits) bits are not a whole number of \(type.milName) elements"
            )
        }
        return WeightBlob(
            dataType: type,
            storage: storage,
            byteOffset: Int(dataOffset),
            byteCount: Int(byteCount),
            elementCount: Int((bits - unusedBits) / UInt64(type.bitWidth))
        )
    }

    /// The offsets of the metadata of all blobs, for files whose blobs follow each other, as writers make them.
    package func blobOffsets() throws(ModelError) -> [UInt64] {
        var result: [UInt64] = []
        var offset: UInt64 = 64
        for _ in 0..<blobCount {
            let blob = try blob(at: offset)
            result.append(offset)
            offset = UInt64(Self.aligned(blob.byteOffset + blob.byteCount))
        }
        return result
    }

    static func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }

    private func malformed(_ field: String, _ offset: UInt64, _ detail: String) -> ModelError {
        ModelError(
            .malformed,
            "\(detail); the file is damaged or belongs to another model: copy or convert it again.",
            at: path,
            "blob at \(offset)",
            field
        )
    }

    private static func integer<T: FixedWidthInteger>(_: T.Type, _ storage: TensorStorage, _ offset: Int) -> T {
        T(littleEndian: (storage.address + offset).loadUnaligned(as: T.self))
    }
}
