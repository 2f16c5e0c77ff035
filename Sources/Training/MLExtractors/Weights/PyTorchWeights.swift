package import MLNumerics
import MLZipFiles

/// The tensors in a file that PyTorch's `torch.save` wrote of a state dictionary.
///
/// Both forms are read: the ZIP archive of today, and the sequence of pickles and storages of PyTorch before 1.6. Only
/// tensors are read (`PickleReader`); code in the file is refused and never run.
package enum PyTorchWeights {
    /// Files may have at most this many bytes.
    package static let byteLimit = 1 << 31
    /// A pickle may have at most this many values.
    package static let valueLimit = 4_000_000

    /// Reads the tensors by name.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - path: Its name, for errors.
    /// - Returns: The tensors of the dictionary; dictionaries in it give names with dots.
    /// - Throws: `.malformed` for files that are damaged or hold anything but tensors.
    package static func read(_ bytes: [UInt8], path: String) throws(ModelError) -> [String: Tensor] {
        guard bytes.count <= byteLimit else {
            throw damaged(path, "it has \(bytes.count) bytes; at most \(byteLimit) are read")
        }
        return ZipArchive.hasSignature(bytes) ? try readArchive(bytes, path) : try readSequence(bytes, path)
    }

    private static func readArchive(_ bytes: [UInt8], _ path: String) throws(ModelError) -> [String: Tensor] {
        let archive = try ZipArchive(bytes, path: path)
        let pickles = archive.names.filter { $0 == "data.pkl" || $0.hasSuffix("/data.pkl") }
        guard pickles.count == 1, let name = pickles.first else {
            throw damaged(
                path,
                "the archive has \(pickles.count) files named data.pkl, not one; save a state dictionary"
            )
        }
        let folder = String(name.dropLast("data.pkl".count))
        if archive.names.contains(folder + "byteorder") {
            let order = try archive.content(of: folder + "byteorder", limit: 16)
            guard order == Array("little".utf8) else { throw damaged(path, "its numbers are big-endian") }
        }
        var reader = PickleReader(try archive.content(of: name, limit: 1 << 26), path: path)
        let root = try reader.read()
        let positions = try tensors(root, reader.nodes, path)
        var storages: [String: [UInt8]] = [:]
        for location in positions.values where storages[location.storage.key] == nil {
            storages[location.storage.key] = try archive.content(
                of: folder + "data/" + location.storage.key,
                limit: byteLimit
            )
        }
        var result: [String: Tensor] = [:]
        for (name, location) in positions {
            guard let content = storages[location.storage.key] else { continue }
            result[name] = try tensor(name, location, content, 0..<content.count, path)
        }
        return result
    }

    /// The form of PyTorch before 1.6: a magic, a version, facts about the machine, the dictionary, the storages' keys,
    /// each a pickle; then for each storage the number of its elements in eight bytes, and the elements.
    private static func readSequence(_ bytes: [UInt8], _ path: String) throws(ModelError) -> [String: Tensor] {
        let magic: [UInt8] = [0x6C, 0xFC, 0x9C, 0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19]
        var position = 0
        func next() throws(ModelError) -> (root: Int, nodes: [PickleReader.Node]) {
            var reader = PickleReader(bytes, path: path, at: position)
            let root = try reader.read()
            position = reader.position
            return (root, reader.nodes)
        }
        guard bytes.starts(with: [0x80, 2, 0x8A, 10] + magic), case let first = try next(),
            case .large(magic) = first.nodes[first.root]
        else { throw damaged(path, "it is not a file that torch.save wrote") }
        let version = try next()
        guard case .integer(1001) = version.nodes[version.root] else { throw damaged(path, "its version is not 1001") }
        let machine = try next()
        if case .dictionary(let items) = machine.nodes[machine.root] {
            for (key, value) in items {
                if case .text("little_endian") = machine.nodes[key], case .bool(false) = machine.nodes[value] {
                    throw damaged(path, "its numbers are big-endian")
                }
            }
        }
        let (root, nodes) = try next()
        let positions = try tensors(root, nodes, path)
        let keys = try next()
        guard case .list(let list) = keys.nodes[keys.root] else {
            throw damaged(path, "the list of storages is missing")
        }
        var stored: [String: PickleReader.Storage] = [:]
        for location in positions.values { stored[location.storage.key] = location.storage }
        var ranges: [String: Range<Int>] = [:]
        for item in list {
            guard case .text(let key) = keys.nodes[item], let storage = stored[key], ranges[key] == nil else {
                throw damaged(path, "it lists a storage that no tensor uses, or one twice")
            }
            guard position <= bytes.count - 8 else { throw damaged(path, "it is cut off; fetch it again") }
            let count = bytes[position..<position + 8].reversed().reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
            position += 8
            guard count == UInt64(storage.count), let size = byteCount(storage), size <= bytes.count - position else {
                throw damaged(path, "the storage '\(key)' does not have the stated size or is cut off; fetch it again")
            }
            ranges[key] = position..<position + size
            position += size
        }
        var result: [String: Tensor] = [:]
        for (name, location) in positions {
            guard let range = ranges[location.storage.key] else {
                throw damaged(path, "the storage of the tensor '\(name)' is missing")
            }
            result[name] = try tensor(name, location, bytes, range, path)
        }
        return result
    }

    /// The tensors in a dictionary; other values are left out.
    private static func tensors(
        _ root: Int,
        _ nodes: [PickleReader.Node],
        _ path: String
    ) throws(ModelError) -> [String: PickleReader.TensorLocation] {
        var result: [String: PickleReader.TensorLocation] = [:]
        var open: [(prefix: String, node: Int)] = [("", root)]
        var visited: Set<Int> = []
        while let (prefix, node) = open.popLast() {
            guard case .dictionary(let items) = nodes[node], visited.insert(node).inserted else { continue }
            for (key, value) in items {
                guard case .text(let name) = nodes[key] else { continue }
                switch nodes[value] {
                case .tensor(let location):
                    guard result.updateValue(location, forKey: prefix + name) == nil else {
                        throw damaged(path, "it has two tensors named '\(prefix + name)'")
                    }
                case .dictionary: open.append((prefix + name + ".", value))
                default: continue
                }
            }
        }
        guard !result.isEmpty else { throw damaged(path, "there are no tensors in it; save a state dictionary") }
        return result
    }

    private static func byteCount(_ storage: PickleReader.Storage) -> Int? {
        let (size, isTooLarge) = storage.count.multipliedReportingOverflow(by: storage.scalarType.byteCount(of: 1))
        return isTooLarge || size > byteLimit ? nil : size
    }

    private static func tensor(
        _ name: String,
        _ location: PickleReader.TensorLocation,
        _ bytes: [UInt8],
        _ range: Range<Int>,
        _ path: String
    ) throws(ModelError) -> Tensor {
        var (count, last) = (1, 0)
        for (extent, stride) in zip(location.shape, location.strides) {
            let (product, isTooLarge) = count.multipliedReportingOverflow(by: extent)
            let (reach, isTooFar) = max(extent - 1, 0).multipliedReportingOverflow(by: stride)
            guard !isTooLarge, !isTooFar, product <= byteLimit, reach <= byteLimit else {
                throw damaged(path, "the tensor '\(name)' is too large")
            }
            count = product
            last += reach
        }
        // No tensor has more elements than its storage: repeated ones (strides of 0) are not read.
        guard let size = byteCount(location.storage), size <= range.count, count <= location.storage.count,
            count == 0 || location.offset <= location.storage.count - 1 - last
        else { throw damaged(path, "the tensor '\(name)' lies outside its storage") }
        let width = location.storage.scalarType.byteCount(of: 1)
        func tensor(_ elements: some Collection<UInt8>) -> Tensor {
            Tensor(copying: elements, scalarType: location.storage.scalarType, shape: location.shape)
        }
        guard count > 0 else { return tensor([]) }
        let start = range.lowerBound + location.offset * width
        if location.isContiguous { return tensor(bytes[start...].prefix(count * width)) }
        var elements: [UInt8] = []
        elements.reserveCapacity(count * width)
        var index = [Int](repeating: 0, count: location.shape.count)
        var element = 0
        for _ in 0..<count {
            elements += bytes[(start + element * width)...].prefix(width)
            for axis in location.shape.indices.reversed() {
                index[axis] += 1
                element += location.strides[axis]
                if index[axis] < location.shape[axis] { break }
                element -= index[axis] * location.strides[axis]
                index[axis] = 0
            }
        }
        return tensor(elements)
    }

    private static func damaged(_ path: String, _ text: String) -> ModelError {
        ModelError(.malformed, "the weights cannot be read: \(text)", at: path)
    }
}
