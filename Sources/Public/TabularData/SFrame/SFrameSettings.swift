/// A file of sections (`[section]`) of settings (`key=value`), as used to describe archives and frames.
struct SFrameSettings {
    private(set) var sections: [String: [String: String]] = [:]

    /// Parses the settings, or throws `.badArchive` naming `file` and the line.
    init(_ bytes: UnsafeBufferPointer<UInt8>, file: String) throws(SFrameReadingError) {
        var section: String?
        for (number, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            let line = Self.trimmed(line)
            guard let first = line.first, first != UInt8(ascii: ";"), first != UInt8(ascii: "#") else { continue }
            func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) throws(SFrameReadingError) -> String {
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw .badArchive("line \(number + 1) of \(file) is not UTF-8")
                }
                return text
            }
            if first == UInt8(ascii: "[") {
                guard line.last == UInt8(ascii: "]") else {
                    throw .badArchive("line \(number + 1) of \(file) has no ']'")
                }
                let name = try text(Self.trimmed(line.dropFirst().dropLast()))
                guard sections[name] == nil else { throw .badArchive("\(file) has two sections [\(name)]") }
                sections[name] = [:]
                section = name
                continue
            }
            guard let section, let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
                throw .badArchive("line \(number + 1) of \(file) is not a setting: '\(try text(line).prefix(80))'")
            }
            let key = try text(Self.trimmed(line[..<equals]))
            let value = try text(Self.trimmed(line[line.index(after: equals)...]))
            guard sections[section]?.updateValue(value, forKey: key) == nil else {
                throw .badArchive("\(file) has two settings '\(key)' in [\(section)]")
            }
        }
    }

    /// Whether a byte is white space, which does not count at the ends of lines, names and values.
    static func isBlank(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

    private static func trimmed(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>> {
        let remaining = bytes.drop(while: isBlank)
        guard let last = remaining.lastIndex(where: { !isBlank($0) }) else { return remaining }
        return remaining[...last]
    }

    /// Returns a setting that is a non-negative integer.
    func number(_ section: String, _ key: String, file: String) throws(SFrameReadingError) -> Int {
        guard let text = sections[section]?[key] else { throw .badArchive("\(file) has no '\(key)' in [\(section)]") }
        guard let number = Int(text), number >= 0 else { throw .badArchive("'\(key)' in \(file) is '\(text)'") }
        return number
    }

    /// Returns the values of a section whose keys count from 0.
    func list(_ section: String, count: Int, file: String) throws(SFrameReadingError) -> [String] {
        let values = sections[section] ?? [:]
        guard values.count == count else {
            throw .badArchive("[\(section)] in \(file) has \(values.count) entries, \(count) are announced")
        }
        var list = [String?](repeating: nil, count: count)
        for (key, value) in values {
            guard let position = Int(key), list.indices.contains(position) else {
                throw .badArchive("[\(section)] in \(file) has an entry '\(key)', which is not one of \(count) indices")
            }
            list[position] = value
        }
        let found = list.compactMap { $0 }
        guard found.count == count else { throw .badArchive("[\(section)] in \(file) names a place twice") }
        return found
    }
}
