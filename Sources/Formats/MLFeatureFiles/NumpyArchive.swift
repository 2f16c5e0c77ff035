import CDeflate
package import MLNumerics

/// Several named arrays in NumPy's `.npz` form: a ZIP archive of `.npy` files.
package enum NumpyArchive {
    /// Reads every array, stored or deflated, by name.
    package static func read(_ bytes: [UInt8], name: String) throws(ModelError) -> [String: Tensor] {
        func number(_ offset: Int, _ width: Int) throws(ModelError) -> Int {
            guard offset >= 0, offset + width <= bytes.count else { throw broken(name, "the archive is cut off") }
            return (offset..<offset + width).reversed().reduce(0) { $0 << 8 | Int(bytes[$1]) }
        }
        guard
            let end = stride(from: bytes.count - 22, through: max(0, bytes.count - 65_557), by: -1).first(where: {
                bytes[$0...].starts(with: [0x50, 0x4B, 5, 6])
            })
        else { throw broken(name, "not a NumPy archive; write it with numpy.savez") }
        var entry = try number(end + 16, 4)
        var arrays: [String: Tensor] = [:]
        for _ in 0..<(try number(end + 10, 2)) {
            guard try number(entry, 4) == 0x0201_4B50 else { throw broken(name, "the directory is damaged") }
            let method = try number(entry + 10, 2)
            let packed = try number(entry + 20, 4)
            let size = try number(entry + 24, 4)
            let nameLength = try number(entry + 28, 2)
            let local = try number(entry + 42, 4)
            guard entry + 46 + nameLength <= bytes.count else { throw broken(name, "the archive is cut off") }
            let file = String(decoding: bytes[entry + 46..<entry + 46 + nameLength], as: UTF8.self)
            let start = local + 30 + (try number(local + 26, 2)) + (try number(local + 28, 2))
            guard packed >= 0, start + packed <= bytes.count, size < 1 << 32 - 1 else {
                throw broken(name, "the entry '\(file)' is cut off")
            }
            let content = try expand(bytes[start..<start + packed], to: size, method, "\(name) › \(file)")
            let key = file.hasSuffix(".npy") ? String(file.dropLast(4)) : file
            arrays[key] = try NumpyArray.read(content, name: "\(name) › \(file)")
            entry += 46 + nameLength + (try number(entry + 30, 2)) + (try number(entry + 32, 2))
        }
        return arrays
    }

    private static func expand(_ packed: ArraySlice<UInt8>, to size: Int, _ method: Int, _ name: String)
        throws(ModelError) -> [UInt8]
    {
        switch method {
        case 0:
            guard packed.count == size else { throw broken(name, "the entry is damaged") }
            return Array(packed)
        case 8:
            // DEFLATE cannot expand more than about a thousandfold.
            guard size <= packed.count * 1100 + 64 else { throw broken(name, "the entry states a wrong size") }
            var failed = false
            let content = [UInt8](unsafeUninitializedCapacity: size) { target, initialized in
                failed = packed.withUnsafeBufferPointer {
                    cdeflate_expand($0.baseAddress, $0.count, target.baseAddress, size) == 0
                }
                initialized = failed ? 0 : size
            }
            guard !failed else { throw broken(name, "the entry is damaged") }
            return content
        default: throw broken(name, "compression method \(method) is not supported; use numpy.savez")
        }
    }

    /// The archive of the given arrays, stored without compression, in the order of their names.
    package static func write(_ arrays: [String: Tensor]) throws(ModelError) -> [UInt8] {
        func little(_ value: Int, _ width: Int) -> [UInt8] { (0..<width).map { UInt8(value >> ($0 * 8) & 255) } }
        var archive: [UInt8] = []
        var directory: [UInt8] = []
        for (name, tensor) in arrays.sorted(by: { $0.key < $1.key }) {
            let content = try NumpyArray.write(tensor)
            guard content.count < 1 << 32 - 1, archive.count < 1 << 32 - 1 else {
                throw ModelError(.unsupported, "'\(name)' is too large for a NumPy archive; write fewer outputs")
            }
            let file = Array("\(name).npy".utf8)
            let sum = content.withUnsafeBufferPointer { Int(cdeflate_crc32($0.baseAddress, $0.count)) }
            let common =
                little(20, 2) + little(0x800, 2) + little(0, 2) + little(0, 2) + little(0x21, 2)
                + little(sum, 4) + little(content.count, 4) + little(content.count, 4) + little(file.count, 2)
                + little(0, 2)
            directory +=
                little(0x0201_4B50, 4) + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2)
                + little(0, 4) + little(archive.count, 4) + file
            archive += little(0x0403_4B50, 4) + common + file + content
        }
        let end =
            little(0x0605_4B50, 4) + little(0, 4) + little(arrays.count, 2) + little(arrays.count, 2)
            + little(directory.count, 4) + little(archive.count, 4) + little(0, 2)
        return archive + directory + end
    }

    private static func broken(_ name: String, _ text: String) -> ModelError { ModelError(.malformed, text, at: name) }
}
