import MLFiles
package import MLNumerics

/// Arrays in NumPy's `.npy` form, versions 1 to 3.
///
/// Source: numpy.lib.format's documentation.
package enum NumpyArray {
    private static let magic: [UInt8] = [0x93] + Array("NUMPY".utf8)

    /// Reads one array.
    ///
    /// `float64`, `int64` and the other numeric types, C or Fortran order, either byte order.
    package static func read(_ bytes: [UInt8], name: String) throws(ModelError) -> Tensor {
        guard bytes.count >= 10, bytes.starts(with: magic) else {
            throw malformed(name, "not a NumPy array; write it with numpy.save")
        }
        let long = bytes[6] >= 2
        let start = long ? 12 : 10
        guard bytes.count >= start else { throw malformed(name, "the header is cut off") }
        let headerLength = (8..<start).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
        guard bytes.count - start >= headerLength else { throw malformed(name, "the header is cut off") }
        let header = String(decoding: bytes[start..<start + headerLength], as: UTF8.self)
        let descriptor = try field("descr", of: header, name)
        let shape = try shape(of: header, name)
        let isFortran = try field("fortran_order", of: header, name) == "True"
        let type = descriptor.filter { $0 != "'" && $0 != "\"" }
        guard !type.isEmpty else { throw malformed(name, "the header names no type") }
        let code = type.drop { "<>|=".contains($0) }
        if code.first == "U" {
            guard let length = Int(code.dropFirst()), length >= 0 else {
                throw malformed(name, "\(type) is not a type")
            }
            let body = bytes[(start + headerLength)...]
            return try strings(body, shape, length, isBigEndian: type.first == ">", isFortran: isFortran, name)
        }
        guard let scalarType = scalarTypes[String(code)] else {
            throw malformed(
                name,
                "arrays of type \(type) are not supported; use float16/32/64, int8…64, uint8…64, bool or str"
            )
        }
        var count = 1
        for extent in shape {
            let product = count.multipliedReportingOverflow(by: extent)
            guard !product.overflow else { throw malformed(name, "the shape \(shape) is too large") }
            count = product.partialValue
        }
        var body = Array(bytes[(start + headerLength)...])
        let width = scalarType.bitWidth / 8
        guard count <= body.count / width else {
            throw malformed(name, "the shape \(shape) takes \(count) elements, the file holds \(body.count / width)")
        }
        body.removeLast(body.count - count * width)
        if type.first == ">" {
            for element in stride(from: 0, to: body.count, by: width) { body[element..<element + width].reverse() }
        }
        let storage = TensorStorage(copying: body)
        guard isFortran, shape.count > 1 else { return Tensor(scalarType: scalarType, shape: shape, storage: storage) }
        let reversed = Tensor(scalarType: scalarType, shape: shape.reversed(), storage: storage)
        return reversed.permuted(Array((0..<shape.count).reversed()))
    }

    /// Texts as NumPy has them: UTF-32, each of `length` units, without zeros at the end.
    private static func strings(
        _ body: ArraySlice<UInt8>,
        _ shape: [Int],
        _ length: Int,
        isBigEndian: Bool,
        isFortran: Bool,
        _ name: String
    ) throws(ModelError) -> Tensor {
        guard !isFortran || shape.count < 2 else {
            throw ModelError(.unsupported, "texts in Fortran order are not supported; save them in C order", at: name)
        }
        let count = try withErrorContext(name) { () throws(ModelError) in try shape.checkedElementCount() }
        guard length > 0, count <= body.count / 4 / length else {
            throw malformed(name, "the shape \(shape) takes more texts of \(length) characters than the file holds")
        }
        var texts: [String] = []
        texts.reserveCapacity(count)
        for index in 0..<count {
            var text = String.UnicodeScalarView()
            var zeros = 0
            for unit in 0..<length {
                let location = body.startIndex + (index * length + unit) * 4
                let bytes =
                    isBigEndian ? Array(body[location..<location + 4]) : body[location..<location + 4].reversed()
                let value = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                guard let scalar = Unicode.Scalar(value) else {
                    throw malformed(name, "text \(index) holds \(value), which is not a character")
                }
                if value == 0 {
                    zeros += 1
                    continue
                }
                for _ in 0..<zeros { text.append("\0") }
                zeros = 0
                text.append(scalar)
            }
            texts.append(String(text))
        }
        return Tensor(strings: texts, shape: shape)
    }

    /// The `.npy` form of a tensor; strings are padded to the length of the longest.
    package static func write(_ tensor: Tensor) throws(ModelError) -> [UInt8] {
        if tensor.scalarType == .string { return write(tensor.strings, shape: tensor.shape) }
        guard let code = scalarTypes.first(where: { $0.value == tensor.scalarType })?.key else {
            throw ModelError(
                .unsupported,
                "a tensor of \(tensor.scalarType.milName) cannot be written as a NumPy array"
            )
        }
        let header = header("\(tensor.scalarType.bitWidth == 8 ? "|" : "<")\(code)", tensor.shape)
        return tensor.withBytes { header + $0 }
    }

    /// Strings as NumPy has them: UTF-32, all of the same length; zeros at the end do not count.
    private static func write(_ strings: [String], shape: [Int]) -> [UInt8] {
        let length = strings.reduce(1) { max($0, $1.unicodeScalars.count) }
        var result = header("<U\(length)", shape)
        result.reserveCapacity(result.count + strings.count * length * 4)
        for string in strings {
            var remaining = length
            for scalar in string.unicodeScalars {
                result.append(littleEndian: scalar.value)
                remaining -= 1
            }
            result += [UInt8](repeating: 0, count: remaining * 4)
        }
        return result
    }

    private static func header(_ descriptor: String, _ shape: [Int]) -> [UInt8] {
        let extents = shape.map { "\($0), " }.joined()
        var header = "{'descr': '\(descriptor)', 'fortran_order': False, 'shape': (\(extents)), }"
        let padding = 64 - (10 + header.utf8.count + 1) % 64
        header += String(repeating: " ", count: padding % 64) + "\n"
        let length = header.utf8.count
        return magic + [1, 0, UInt8(length & 255), UInt8(length >> 8)] + Array(header.utf8)
    }

    private static let scalarTypes: [String: ScalarType] = [
        "f2": .float16, "f4": .float32, "f8": .float64, "i1": .int8, "i2": .int16, "i4": .int32, "i8": .int64,
        "u1": .uint8, "u2": .uint16, "u4": .uint32, "u8": .uint64, "b1": .bool,
    ]

    /// The text after `'key':` in the header.
    private static func value(_ key: String, of header: String, _ name: String) throws(ModelError) -> Substring {
        let mark = "'\(key)':"
        var remaining = header[...]
        while !remaining.isEmpty, !remaining.hasPrefix(mark) { remaining = remaining.dropFirst() }
        guard !remaining.isEmpty else { throw malformed(name, "the header has no '\(key)'") }
        return remaining.dropFirst(mark.count).drop { $0 == " " }
    }

    private static func field(_ key: String, of header: String, _ name: String) throws(ModelError) -> Substring {
        let value = try value(key, of: header, name).prefix { $0 != "," && $0 != "}" }
        return value.prefix(upTo: value.lastIndex { $0 != " " }.map { value.index(after: $0) } ?? value.startIndex)
    }

    private static func shape(of header: String, _ name: String) throws(ModelError) -> [Int] {
        let text = try value("shape", of: header, name)
        guard text.first == "(", let close = text.firstIndex(of: ")") else {
            throw malformed(name, "the header has no shape")
        }
        var shape: [Int] = []
        for part in text[..<close].dropFirst().split(separator: ",") {
            let digits = part.filter { $0 != " " }
            if digits.isEmpty { continue }
            guard let extent = Int(digits), extent >= 0 else { throw malformed(name, "'\(digits)' is not an extent") }
            shape.append(extent)
        }
        return shape
    }

    private static func malformed(_ name: String, _ text: String) -> ModelError {
        ModelError(.malformed, text, at: name)
    }
}
