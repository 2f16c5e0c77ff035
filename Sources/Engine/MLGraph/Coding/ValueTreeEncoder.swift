package import MLNumerics

extension ValueTree {
    /// The tree of a value; an error when it cannot be encoded (the class of a custom layer).
    package init(encoding value: some Encodable) throws(ModelError) {
        let node = ValueTreeEncoder.Node()
        do {
            try value.encode(to: ValueTreeEncoder(node: node, codingPath: []))
        } catch let error as EncodingError {
            throw ModelError(.unsupported, ValueTreeEncoder.description(of: error))
        } catch {
            throw ModelError(.unsupported, "\(error)")
        }
        self = node.tree
    }
}

/// Builds a `ValueTree`.
struct ValueTreeEncoder: Encoder {
    /// A node of the tree that is being built.
    final class Node {
        enum Content {
            case leaf(ValueTree)
            case list([Node])
            case record([String: Node])
        }

        var content = Content.leaf(.null)

        var tree: ValueTree {
            switch content {
            case .leaf(let tree): tree
            case .list(let nodes): .list(nodes.map(\.tree))
            case .record(let fields): .record(fields.mapValues(\.tree))
            }
        }

        func set(_ value: some Encodable, _ path: [any CodingKey]) throws {
            content = .leaf(try ValueTreeEncoder.leaf(value) ?? nested(value, path))
        }

        private func nested(_ value: some Encodable, _ path: [any CodingKey]) throws -> ValueTree {
            let node = Node()
            try value.encode(to: ValueTreeEncoder(node: node, codingPath: path))
            return node.tree
        }
    }

    let node: Node
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .record = node.content {} else { node.content = .record([:]) }
        return KeyedEncodingContainer(Keyed(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .list = node.content {} else { node.content = .list([]) }
        return Unkeyed(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(node: node, codingPath: codingPath) }

    /// The tree of a value that is a leaf.
    static func leaf(_ value: some Encodable) -> ValueTree? {
        switch value {
        case let value as Bool: .boolean(value)
        case let value as Int: .integer(value)
        case let value as UInt8: .integer(Int(value))
        case let value as Int32: .integer(Int(value))
        case let value as Int64: .integer(Int(value))
        case let value as Double: .number(value)
        case let value as Float: .number(Double(value))
        case let value as String: .text(value)
        default: nil
        }
    }

    static func description(of error: EncodingError) -> String {
        switch error {
        case .invalidValue(_, let context): context.debugDescription
        @unknown default: "\(error)"
        }
    }

    private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let node: Node
        let codingPath: [any CodingKey]

        private func child(_ name: String) -> Node {
            guard case .record(var fields) = node.content else { preconditionFailure("a record was begun") }
            let child = Node()
            fields[name] = child
            node.content = .record(fields)
            return child
        }

        mutating func encodeNil(forKey key: Key) throws { _ = child(key.stringValue) }
        mutating func encode(_ value: some Encodable, forKey key: Key) throws {
            try child(key.stringValue).set(value, codingPath + [key])
        }
        mutating func nestedContainer<Inner: CodingKey>(
            keyedBy type: Inner.Type,
            forKey key: Key
        ) -> KeyedEncodingContainer<Inner> {
            ValueTreeEncoder(node: child(key.stringValue), codingPath: codingPath + [key]).container(keyedBy: type)
        }
        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            ValueTreeEncoder(node: child(key.stringValue), codingPath: codingPath + [key]).unkeyedContainer()
        }
        mutating func superEncoder() -> any Encoder {
            ValueTreeEncoder(node: child("super"), codingPath: codingPath)
        }
        mutating func superEncoder(forKey key: Key) -> any Encoder {
            ValueTreeEncoder(node: child(key.stringValue), codingPath: codingPath + [key])
        }
    }

    private struct Unkeyed: UnkeyedEncodingContainer {
        let node: Node
        let codingPath: [any CodingKey]

        var count: Int {
            guard case .list(let items) = node.content else { return 0 }
            return items.count
        }

        private func child() -> Node {
            guard case .list(var items) = node.content else { preconditionFailure("a list was begun") }
            let child = Node()
            items.append(child)
            node.content = .list(items)
            return child
        }

        mutating func encodeNil() throws { _ = child() }
        mutating func encode(_ value: some Encodable) throws { try child().set(value, codingPath) }
        mutating func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner> {
            ValueTreeEncoder(node: child(), codingPath: codingPath).container(keyedBy: type)
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
            ValueTreeEncoder(node: child(), codingPath: codingPath).unkeyedContainer()
        }
        mutating func superEncoder() -> any Encoder { ValueTreeEncoder(node: child(), codingPath: codingPath) }
    }

    private struct Single: SingleValueEncodingContainer {
        let node: Node
        let codingPath: [any CodingKey]

        mutating func encodeNil() throws { node.content = .leaf(.null) }
        mutating func encode(_ value: some Encodable) throws { try node.set(value, codingPath) }
    }
}
