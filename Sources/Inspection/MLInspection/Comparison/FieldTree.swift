import MLFiles
import MLNumerics
import SwiftProtobuf

/// The fields of a message by their paths: `treeEnsemble.nodes[3].branchFeatureValue`.
struct FieldTree {
    enum Leaf: Equatable {
        case number(Double)
        case text(String)

        var text: String {
            switch self {
            case .number(let value): JSONWriter.text(value)
            case .text(let text): text
            }
        }
    }

    /// In the order of the fields.
    let leaves: [(path: String, value: Leaf)]

    /// A message that cannot be written as JSON has no leaves; that happens with text that is not UTF-8, which cannot
    /// be decoded either.
    init(_ message: some Message) {
        var leaves: [(String, Leaf)] = []
        if let bytes: [UInt8] = try? message.jsonUTF8Bytes(), let json = try? JSONReader.read(bytes) {
            Self.collect(json, "", &leaves)
        }
        self.leaves = leaves
    }

    private static func collect(_ json: JSONValue, _ path: String, _ leaves: inout [(String, Leaf)]) {
        switch json {
        // The choice among several messages, such as the kind of an activation, is information even when the message
        // is empty.
        case .object(let members) where members.isEmpty && !path.isEmpty: leaves.append((path, .text("there")))
        case .object(let members):
            for member in members {
                collect(member.value, path.isEmpty ? member.name : "\(path).\(member.name)", &leaves)
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() { collect(element, "\(path)[\(index)]", &leaves) }
        case .null: break
        case .bool(let value): leaves.append((path, .text(value ? "true" : "false")))
        case .integer(let value): leaves.append((path, .number(Double(value))))
        case .number(let value): leaves.append((path, .number(value)))
        case .string(let text):
            // JSON represents 64-bit numbers as strings.
            leaves.append((path, Int64(text).map { .number(Double($0)) } ?? .text(text)))
        }
    }
}

/// The differences between the fields of two messages, with all elements of a list combined.
package struct FieldChange: Sendable, Equatable {
    /// The path, with `[]` for any element.
    package let path: String
    package let changed: Int
    package let added: Int
    package let removed: Int
    /// The number of fields that both messages have.
    package let count: Int
    /// The largest difference between two numbers; `nil` where no number changed.
    package let largestDifference: Double?
    /// An example of a field that differs: its path and both values, `nil` where it is missing.
    package let example: String
    package let before: String?
    package let after: String?

    static func changes(_ a: some Message, _ b: some Message) -> [FieldChange] {
        let before = Dictionary(FieldTree(a).leaves) { $1 }
        let after = FieldTree(b).leaves
        var groups: [String: Group] = [:]
        var order: [String] = []
        func change(_ path: String, _ body: (inout Group) -> Void) {
            let pattern = Self.pattern(path)
            if groups[pattern] == nil { order.append(pattern) }
            body(&groups[pattern, default: Group()])
        }
        var known: Set<String> = []
        for (path, value) in after {
            known.insert(path)
            change(path) { group in
                guard let old = before[path] else {
                    group.added += 1
                    if group.example == nil { group.example = (path, nil, value.text) }
                    return
                }
                group.count += 1
                guard old != value else { return }
                group.changed += 1
                var difference = 0.0
                if case (.number(let old), .number(let new)) = (old, value) { difference = abs(old - new) }
                if group.changed == 1 || difference > group.maximumDifference ?? 0 {
                    group.example = (path, old.text, value.text)
                }
                if difference > 0 { group.maximumDifference = max(group.maximumDifference ?? 0, difference) }
            }
        }
        for (path, value) in before where !known.contains(path) {
            change(path) { group in
                group.removed += 1
                if group.example == nil { group.example = (path, value.text, nil) }
            }
        }
        return order.compactMap { pattern in
            guard let group = groups[pattern], let example = group.example else { return nil }
            return FieldChange(
                path: pattern,
                changed: group.changed,
                added: group.added,
                removed: group.removed,
                count: group.count,
                largestDifference: group.maximumDifference,
                example: example.0,
                before: example.1,
                after: example.2
            )
        }
    }

    private struct Group {
        var changed = 0
        var added = 0
        var removed = 0
        var count = 0
        var maximumDifference: Double?
        var example: (String, String?, String?)?
    }

    private static func pattern(_ path: String) -> String {
        var result = ""
        var isInside = false
        for character in path {
            if character == "]" { isInside = false }
            if !isInside { result.append(character) }
            if character == "[" { isInside = true }
        }
        return result
    }
}
