import Foundation
import MLNumerics

/// Arrays in NumPy's `.npy` format.
enum NumPyArray {
    /// The array in `url`, row-major.
    static func read(_ url: URL) throws -> Tensor {
        let data = try Data(contentsOf: url)
        guard data.count > 10, data.starts(with: [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59]) else {
            throw ModelError(.malformed, "\(url.lastPathComponent) is no NumPy array")
        }
        let isLong = data[6] > 1
        let headerCount = Int(data[8]) | Int(data[9]) << 8 | (isLong ? Int(data[10]) << 16 : 0)
        let start = (isLong ? 12 : 10) + headerCount
        let header = String(decoding: data[(isLong ? 12 : 10)..<start], as: UTF8.self)
        func field(_ name: String) -> Substring {
            guard let range = header.range(of: "'\(name)': ") else { return "" }
            return header[range.upperBound...]
        }
        let code = field("descr").dropFirst().prefix { $0 != "'" }
        let shape = field("shape").dropFirst().prefix { $0 != ")" }
            .split(separator: ",").compactMap { Int($0.trimmingCharacters(in: .whitespaces)) }
        let types: [String: ScalarType] = [
            "<f4": .float32, "<f8": .float64, "<f2": .float16, "<i4": .int32, "<i8": .int64, "|i1": .int8,
            "|u1": .uint8, "|b1": .bool, "<i2": .int16, "<u2": .uint16, "<u4": .uint32,
        ]
        guard let type = types[String(code)] else { throw ModelError(.unsupported, "NumPy type \(code)") }
        let isColumnMajor = field("fortran_order").hasPrefix("True")
        let tensor = Tensor(uninitialized: type, shape: isColumnMajor ? shape.reversed() : shape)
        data[start...].withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, tensor.byteCount <= bytes.count else { return }
            tensor.address.copyMemory(from: base, byteCount: tensor.byteCount)
        }
        return isColumnMajor ? tensor.permuted((0..<shape.count).reversed()) : tensor
    }
}
