import MLFiles
package import MLNumerics

/// The tensors in a file of the form "safetensors": a JSON text that describes them, and their bytes one after another.
///
/// Source: the format's description in Hugging Face's repository "safetensors". The tensors must cover the bytes behind
/// the description without gaps or overlaps, as that requires.
package enum SafeTensors {
    /// Descriptions may have at most this many bytes.
    private static let descriptionLimit = 100_000_000

    /// Whether bytes begin like such a file: the description's length in eight bytes, then a brace.
    package static func hasSignature(_ bytes: [UInt8]) -> Bool {
        bytes.count > 8 && bytes[8] == UInt8(ascii: "{") && bytes[4..<8].allSatisfy { $0 == 0 }
    }

    /// Reads the tensors by name.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - path: Its name, for errors.
    /// - Returns: The tensors.
    /// - Throws: `.malformed` for damaged files, `.unsupported` for types of numbers that are not read (BF16, FP8, …).
    package static func read(_ bytes: [UInt8], path: String) throws(ModelError) -> [String: Tensor] {
        guard bytes.count <= PyTorchWeights.byteLimit else {
            throw damaged(path, "it has \(bytes.count) bytes; at most \(PyTorchWeights.byteLimit) are read")
        }
        guard bytes.count >= 8 else { throw damaged(path, "it is cut off") }
        let length = bytes[0..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= descriptionLimit, length <= bytes.count - 8 else {
            throw damaged(path, "its description has \(length) bytes, more than the file or than are read")
        }
        let start = 8 + Int(length)
        let description: JSONValue
        do throws(ModelError) { description = try JSONReader.read(Array(bytes[8..<start])) } catch {
            throw damaged(path, error.description)
        }
        guard case .object(let members) = description else {
            throw damaged(path, "its description is not a JSON object")
        }
        let entries = try members.filter { $0.name != "__metadata__" }.map { (member) throws(ModelError) in
            try Entry(member, path)
        }
        var reached = 0
        var tensors: [String: Tensor] = [:]
        for entry in entries.sorted(by: {
            ($0.range.lowerBound, $0.range.count) < ($1.range.lowerBound, $1.range.count)
        }) {
            guard entry.range.lowerBound == reached, entry.range.upperBound <= bytes.count - start else {
                throw damaged(
                    path,
                    "the bytes of the tensor '\(entry.name)' do not follow those before it, or are missing"
                )
            }
            reached = entry.range.upperBound
            let content = bytes[(start + entry.range.lowerBound)...].prefix(entry.range.count)
            tensors[entry.name] = Tensor(copying: content, scalarType: entry.scalarType, shape: entry.shape)
        }
        guard reached == bytes.count - start else { throw damaged(path, "bytes follow the last tensor") }
        return tensors
    }

    /// A tensor in the description.
    private struct Entry {
        let name: String
        let scalarType: ScalarType
        let shape: [Int]
        /// The position behind the description.
        let range: Range<Int>

        private static let types: [String: ScalarType] = [
            "F16": .float16, "F32": .float32, "F64": .float64, "I8": .int8, "I16": .int16, "I32": .int32, "I64": .int64,
            "U8": .uint8, "U16": .uint16, "U32": .uint32, "U64": .uint64, "BOOL": .bool,
        ]

        init(_ member: JSONValue.Member, _ path: String) throws(ModelError) {
            name = member.name
            func malformed(_ subject: String) -> ModelError {
                damaged(path, "\(subject) of the tensor '\(member.name)' is missing or wrong")
            }
            guard let stated = member.value["dtype"]?.string else { throw malformed("the type") }
            guard let type = Self.types[stated] else {
                throw ModelError(
                    .unsupported,
                    "the tensor '\(member.name)' has numbers of the type \(stated), which is not read; store float32",
                    at: path
                )
            }
            scalarType = type
            guard let extents = Self.integers(member.value["shape"]) else { throw malformed("the shape") }
            shape = extents
            guard let positions = Self.integers(member.value["data_offsets"]), positions.count == 2,
                positions[0] <= positions[1]
            else {
                throw malformed("the place")
            }
            range = positions[0]..<positions[1]
            var size = type.byteCount(of: 1)
            for extent in extents {
                let (product, isTooLarge) = size.multipliedReportingOverflow(by: extent)
                guard !isTooLarge, product <= PyTorchWeights.byteLimit else { throw malformed("the shape") }
                size = product
            }
            guard size == range.count else { throw malformed("the place") }
        }

        /// Natural numbers.
        private static func integers(_ value: JSONValue?) -> [Int]? {
            guard case .array(let values)? = value, values.count <= 64 else { return nil }
            var result: [Int] = []
            for value in values {
                guard case .integer(let number) = value, number >= 0, let natural = Int(exactly: number) else {
                    return nil
                }
                result.append(natural)
            }
            return result
        }
    }

    private static func damaged(_ path: String, _ text: String) -> ModelError {
        ModelError(.malformed, "the weights cannot be read: \(text)", at: path)
    }
}
