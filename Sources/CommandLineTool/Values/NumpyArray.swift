import Foundation
import MLNumerics

/// Arrays in NumPy's `.npy` form, versions 1 to 3.
///
/// Source: numpy.lib.format's documentation.
enum NumpyArray {
    private static let magic: [UInt8] = [0x93] + Array("NUMPY".utf8)

    /// Reads one array.  `float64`, `int64` and the other numeric types, C or Fortran order, either byte order.
    static func read(_ bytes: [UInt8], name: String) throws -> Tensor {
        guard bytes.count >= 10, bytes.starts(with: magic) else {
            throw Failure("\(name): not a NumPy array; write it with numpy.save")
        }
        let long = bytes[6] >= 2
        let start = long ? 12 : 10
        guard bytes.count >= start else { throw Failure("\(name): the header is cut off") }
        let length = (8..<start).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
        guard bytes.count - start >= length else { throw Failure("\(name): the header is cut off") }
        let header = String(decoding: bytes[start..<start + length], as: UTF8.self)
        let descriptor = try field("descr", of: header, name)
        let shape = try shape(of: header, name)
        let isFortran = try field("fortran_order", of: header, name) == "True"
        let type = descriptor.filter { $0 != "'" && $0 != "\"" }
        guard !type.isEmpty else { throw Failure("\(name): the header names no type") }
        guard let scalarType = scalarTypes[String(type.drop { "<>|=".contains($0) })] else {
            throw Failure(
                "\(name): arrays of type \(type) are not supported; use float16/32/64, int8…64, uint8…64 or bool"
            )
        }
        var count = 1
        for extent in shape {
            let product = count.multipliedReportingOverflow(by: extent)
            guard !product.overflow else { throw Failure("\(name): the shape \(shape) is too large") }
            count = product.partialValue
        }
        var body = Array(bytes[(start + length)...])
        let width = scalarType.bitWidth / 8
        guard count <= body.count / width else {
            throw Failure("\(name): the shape \(shape) takes \(count) elements, the file holds \(body.count / width)")
        }
        body.removeLast(body.count - count * width)
        if type.first == ">" {
            for element in stride(from: 0, to: body.count, by: width) { body[element..<element + width].reverse() }
        }
        let storage = TensorStorage(byteCount: body.count)
        body.withUnsafeBytes {
            storage.address.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(storage.address), byteCount: $0.count)
        }
        guard isFortran, shape.count > 1 else { return Tensor(scalarType: scalarType, shape: shape, storage: storage) }
        let reversed = Tensor(scalarType: scalarType, shape: shape.reversed(), storage: storage)
        return reversed.permuted(Array((0..<shape.count).reversed()))
    }

    /// The `.npy` form of a tensor; strings are padded to the length of the longest.
    static func write(_ tensor: Tensor) throws -> [UInt8] {
        if tensor.scalarType == .string { return write(tensor.strings, shape: tensor.shape) }
        guard let code = scalarTypes.first(where: { $0.value == tensor.scalarType })?.key else {
            throw Failure("a tensor of \(tensor.scalarType.milName) has no form as a NumPy array")
        }
        let header = header("\(tensor.scalarType.bitWidth == 8 ? "|" : "<")\(code)", tensor.shape)
        return withExtendedLifetime(tensor) {
            header + UnsafeRawBufferPointer(start: tensor.address, count: tensor.byteCount)
        }
    }

    /// Strings as NumPy has them: UTF-32, all of the same length; zeros at the end do not count.
    private static func write(_ strings: [String], shape: [Int]) -> [UInt8] {
        let length = strings.reduce(1) { max($0, $1.unicodeScalars.count) }
        var result = header("<U\(length)", shape)
        result.reserveCapacity(result.count + strings.count * length * 4)
        for string in strings {
            var rest = length
            for scalar in string.unicodeScalars {
                withUnsafeBytes(of: scalar.value.littleEndian) { result += $0 }
                rest -= 1
            }
            result += [UInt8](repeating: 0, count: rest * 4)
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

    private static func field(_ key: String, of header: String, _ name: String) throws -> String {
        guard let range = header.range(of: "'\(key)':") else { throw Failure("\(name): the header lacks '\(key)'") }
        return String(header[range.upperBound...].prefix { $0 != "," }).trimmingCharacters(in: .whitespaces)
    }

    private static func shape(of header: String, _ name: String) throws -> [Int] {
        guard let range = header.range(of: "'shape':"), let open = header[range.upperBound...].firstIndex(of: "("),
            let close = header[open...].firstIndex(of: ")")
        else { throw Failure("\(name): the header lacks the shape") }
        return try header[header.index(after: open)..<close].split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.map {
                guard let extent = Int($0), extent >= 0 else { throw Failure("\(name): '\($0)' is no extent") }
                return extent
            }
    }
}
