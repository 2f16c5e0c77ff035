import MLNumerics
import MLExtractors

/// Files like those of `torch.save`, made by hand.
enum PyTorchFiles {
    /// A tensor of float32 values in its own storage.
    struct Entry {
        var name: String
        var shape: [Int]
        var values: [Float]
    }

    static func little(_ value: Int, _ width: Int) -> [UInt8] { (0..<width).map { UInt8(value >> ($0 * 8) & 255) } }
    static func text(_ text: String) -> [UInt8] { [0x58] + little(text.utf8.count, 4) + Array(text.utf8) }
    static func number(_ value: Int) -> [UInt8] { [0x4A] + little(value, 4) }
    static func name(_ module: String, _ name: String) -> [UInt8] { [0x63] + Array("\(module)\n\(name)\n".utf8) }
    static func tuple(_ parts: [[UInt8]]) -> [UInt8] { [0x28] + parts.flatMap { $0 } + [0x74] }
    static let none: [UInt8] = [0x4E]

    /// ('storage', FloatStorage, key, 'cpu', count), as an object outside of the pickle.
    static func storage(_ key: String, _ count: Int, type: String = "FloatStorage", isOld: Bool = false) -> [UInt8] {
        tuple([text("storage"), name("torch", type), text(key), text("cpu"), number(count)] + (isOld ? [none] : []))
            + [0x51]
    }

    /// A call of `_rebuild_tensor_v2`.
    static func tensor(_ storage: [UInt8], offset: Int = 0, shape: [Int], strides: [Int]) -> [UInt8] {
        name("torch._utils", "_rebuild_tensor_v2")
            + tuple([
                storage, number(offset), tuple(shape.map(number)), tuple(strides.map(number)), [0x89],
                name("collections", "OrderedDict") + [0x29, 0x52],
            ]) + [0x52]
    }

    static func strides(_ shape: [Int]) -> [Int] {
        var result = [Int](repeating: 1, count: shape.count)
        for axis in shape.indices.dropLast().reversed() { result[axis] = result[axis + 1] * shape[axis + 1] }
        return result
    }

    /// The pickle of an `OrderedDict` of these values, with PyTorch's `_metadata`.
    static func dictionary(_ items: [(name: String, value: [UInt8])]) -> [UInt8] {
        var pickle: [UInt8] = [0x80, 2]
        pickle += name("collections", "OrderedDict")
        pickle += [0x29, 0x52, 0x71, 0, 0x28]
        for item in items {
            pickle += text(item.name)
            pickle += item.value
        }
        pickle += [0x75, 0x7D]
        pickle += text("_metadata")
        pickle += [0x7D, 0x73, 0x62, 0x2E]
        return pickle
    }

    static func bytes(_ values: [Float]) -> [UInt8] { values.flatMap { little(Int($0.bitPattern), 4) } }

    /// The form of PyTorch before 1.6.
    static func sequence(_ entries: [Entry]) -> [UInt8] {
        let items = entries.enumerated().map { index, entry in
            (
                name: entry.name,
                value: tensor(
                    storage("\(index)", entry.values.count, isOld: true),
                    shape: entry.shape,
                    strides: strides(entry.shape)
                )
            )
        }
        var keys: [UInt8] = [0x80, 2, 0x5D, 0x28]
        for index in entries.indices { keys += text("\(index)") }
        keys += [0x65, 0x2E]
        var file = start
        file += dictionary(items)
        file += keys
        for entry in entries {
            file += little(entry.values.count, 8)
            file += bytes(entry.values)
        }
        return file
    }

    /// The mark, the version and the facts about the machine.
    static let start: [UInt8] =
        [0x80, 2, 0x8A, 10, 0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19, 0x2E]
        + [0x80, 2, 0x4D, 0xE9, 3, 0x2E]
        + [0x80, 2, 0x7D, 0x28] + text("little_endian") + [0x88, 0x75, 0x2E]

    /// The form of today: a ZIP archive.
    static func archive(_ entries: [Entry]) -> [UInt8] {
        let items = entries.enumerated().map { index, entry in
            (
                name: entry.name,
                value: tensor(
                    storage("\(index)", entry.values.count),
                    shape: entry.shape,
                    strides: strides(entry.shape)
                )
            )
        }
        return zip(
            [("archive/data.pkl", dictionary(items)), ("archive/byteorder", Array("little".utf8))]
                + entries.enumerated().map { ("archive/data/\($0)", bytes($1.values)) }
        )
    }

    /// An archive of stored files.
    static func zip(_ files: [(name: String, content: [UInt8])]) -> [UInt8] {
        var (archive, directory): ([UInt8], [UInt8]) = ([], [])
        for (name, content) in files {
            var common = [20, 0, 0, 0, 0x21].flatMap { little($0, 2) }
            common += [crc(content), content.count, content.count].flatMap { little($0, 4) }
            common += little(name.utf8.count, 2) + little(0, 2)
            directory += little(0x0201_4B50, 4) + little(20, 2) + common + [UInt8](repeating: 0, count: 10)
            directory += little(archive.count, 4) + Array(name.utf8)
            archive += little(0x0403_4B50, 4) + common
            archive += Array(name.utf8) + content
        }
        var end = little(0x0605_4B50, 4) + little(0, 4)
        end += little(files.count, 2) + little(files.count, 2)
        end += little(directory.count, 4) + little(archive.count, 4) + little(0, 2)
        return archive + directory + end
    }

    /// CRC-32, bit by bit.
    static func crc(_ bytes: [UInt8]) -> Int {
        var sum: UInt32 = ~0
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return Int(~sum)
    }
}
