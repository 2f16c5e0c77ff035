package import MLNumerics

extension ValueTree {
    /// The value that was encoded to the tree.
    package func decoded<Value: Decodable>(as type: Value.Type) throws(ModelError) -> Value {
        do {
            return try Value(from: ValueTreeDecoder(tree: self, codingPath: []))
        } catch let error as ModelError {
            throw error
        } catch {
            throw BinaryReader.malformed("no attributes of '\(Value.self)' (\(error))")
        }
    }
}

/// Decodes from a `ValueTree`.
struct ValueTreeDecoder: Decoder {
    let tree: ValueTree
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .record(let fields) = tree else { throw mismatch("a record") }
        return KeyedDecodingContainer(Keyed(fields: fields, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .list(let items) = tree else { throw mismatch("a list") }
        return Unkeyed(items: items, codingPath: codingPath)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(decoder: self) }

    private func mismatch(_ detail: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: "\(detail) is expected"))
    }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        func checked(_ leaf: (any Sendable)?, _ detail: String) throws -> Value {
            guard let value = leaf as? Value else { throw mismatch(detail) }
            return value
        }
        func integer<I: FixedWidthInteger & Sendable>(_: I.Type) throws -> Value {
            guard case .integer(let value) = tree else { throw mismatch("an integer") }
            return try checked(I(exactly: value), "an integer of \(I.bitWidth) bits")
        }
        if type == Bool.self {
            guard case .boolean(let value) = tree else { throw mismatch("a Boolean") }
            return try checked(value, "a Boolean")
        }
        if type == Int.self { return try integer(Int.self) }
        if type == UInt8.self { return try integer(UInt8.self) }
        if type == Int32.self { return try integer(Int32.self) }
        if type == Int64.self { return try integer(Int64.self) }
        if type == Double.self || type == Float.self {
            guard case .number(let value) = tree else { throw mismatch("a number") }
            return try type == Double.self ? checked(value, "a number") : checked(Float(value), "a number")
        }
        if type == String.self {
            guard case .text(let value) = tree else { throw mismatch("a text") }
            return try checked(value, "a text")
        }
        return try Value(from: self)
    }

    private struct Keyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let fields: [String: ValueTree]
        let codingPath: [any CodingKey]

        var allKeys: [Key] { fields.keys.compactMap(Key.init(stringValue:)) }
        func contains(_ key: Key) -> Bool { fields[key.stringValue] != nil }

        private func decoder(_ key: Key) throws -> ValueTreeDecoder {
            guard let tree = fields[key.stringValue] else {
                throw DecodingError.keyNotFound(
                    key,
                    DecodingError.Context(codingPath: codingPath, debugDescription: "'\(key.stringValue)' is missing")
                )
            }
            return ValueTreeDecoder(tree: tree, codingPath: codingPath + [key])
        }

        func decodeNil(forKey key: Key) throws -> Bool { try decoder(key).tree == .null }
        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            try decoder(key).decoded(type)
        }
        func nestedContainer<Inner: CodingKey>(
            keyedBy type: Inner.Type,
            forKey key: Key
        ) throws -> KeyedDecodingContainer<Inner> {
            try decoder(key).container(keyedBy: type)
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try decoder(key).unkeyedContainer()
        }
        func superDecoder() throws -> any Decoder {
            guard let tree = fields["super"] else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: codingPath, debugDescription: "'super' is missing")
                )
            }
            return ValueTreeDecoder(tree: tree, codingPath: codingPath)
        }
        func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
    }

    private struct Unkeyed: UnkeyedDecodingContainer {
        let items: [ValueTree]
        let codingPath: [any CodingKey]
        var currentIndex = 0

        var count: Int? { items.count }
        var isAtEnd: Bool { currentIndex >= items.count }

        private mutating func next() throws -> ValueTreeDecoder {
            guard currentIndex < items.count else {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: codingPath, debugDescription: "the list ends early")
                )
            }
            defer { currentIndex += 1 }
            return ValueTreeDecoder(tree: items[currentIndex], codingPath: codingPath)
        }

        mutating func decodeNil() throws -> Bool {
            guard currentIndex < items.count, items[currentIndex] == .null else { return false }
            currentIndex += 1
            return true
        }
        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decoded(type) }
        mutating func nestedContainer<Inner: CodingKey>(
            keyedBy type: Inner.Type
        ) throws -> KeyedDecodingContainer<Inner> {
            try next().container(keyedBy: type)
        }
        mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
        mutating func superDecoder() throws -> any Decoder { try next() }
    }

    private struct Single: SingleValueDecodingContainer {
        let decoder: ValueTreeDecoder
        var codingPath: [any CodingKey] { decoder.codingPath }

        func decodeNil() -> Bool { decoder.tree == .null }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decoded(type) }
    }
}
