package import MLNumerics

/// Writes a weight file blob by blob; the file appears at its path when `finish` has succeeded.
package final class WeightFileWriter {
    private let file: NewFile
    private var blobCount: UInt32 = 0

    package init(path: String) throws(ModelError) {
        file = try NewFile(replacing: path)
        try file.append(Self.header(blobCount: 0))
    }

    /// Appends a blob of packed elements and returns the offset that refers to it.
    package func append(
        _ dataType: BlobDataType,
        elementCount: Int,
        _ bytes: RawSpan
    ) throws(ModelError) -> UInt64 {
        let bits = elementCount * dataType.bitWidth
        let byteCount = bytes.byteCount
        precondition(byteCount == (bits + 7) / 8, "\(elementCount) elements of \(dataType) in \(byteCount) bytes")
        try fill()
        let offset = file.count
        var description: [UInt8] = []
        description.append(littleEndian: WeightFile.magic)
        description.append(littleEndian: dataType.rawValue)
        description.append(littleEndian: UInt64(byteCount))
        description.append(littleEndian: UInt64(offset + WeightFile.alignment))
        description.append(littleEndian: UInt64(byteCount * 8 - bits))
        description += [UInt8](repeating: 0, count: WeightFile.alignment - description.count)
        try file.append(description)
        try file.append(bytes)
        blobCount += 1
        return UInt64(offset)
    }

    /// Appends the elements of a tensor.
    package func append(_ tensor: Tensor) throws(ModelError) -> UInt64 {
        guard let type = BlobDataType(tensor.scalarType) else {
            throw ModelError(
                .unsupported,
                "A weight file cannot hold elements of type \(tensor.scalarType.milName); write them into the program."
            )
        }
        return try tensor.withBytes { (bytes) throws(ModelError) in
            try append(type, elementCount: tensor.count, bytes.bytes)
        }
    }

    package func finish() throws(ModelError) {
        try file.overwrite(Self.header(blobCount: blobCount), at: 0)
        try file.finish()
    }

    private func fill() throws(ModelError) {
        let gap = WeightFile.aligned(file.count) - file.count
        if gap > 0 { try file.append([UInt8](repeating: 0, count: gap)) }
    }

    private static func header(blobCount: UInt32) -> [UInt8] {
        var header: [UInt8] = []
        header.append(littleEndian: blobCount)
        header.append(littleEndian: WeightFile.version)
        return header + [UInt8](repeating: 0, count: WeightFile.alignment - header.count)
    }
}
