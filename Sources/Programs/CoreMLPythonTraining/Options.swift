import Foundation

/// A value of JSON.
enum JSONValue: Decodable, Sendable {
    case null
    case flag(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .flag(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// The value as text, for messages.
    var words: String {
        switch self {
        case .null: "null"
        case .flag(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .text(let value): "'\(value)'"
        case .list: "a list"
        case .object: "a dictionary"
        }
    }
}

/// The named values of a request; all must be read.
final class Options {
    private let values: [String: JSONValue]
    private let owner: String
    private var asked: Set<String> = []

    /// - Parameters:
    ///   - values: The values by name.
    ///   - owner: Whose they are, for messages.
    init(_ values: [String: JSONValue], of owner: String) {
        self.values = values
        self.owner = owner
    }

    convenience init(json: String, of owner: String) throws {
        do {
            self.init(try JSONDecoder().decode([String: JSONValue].self, from: Data(json.utf8)), of: owner)
        } catch { throw TrainingError("the options of \(owner) are not a JSON object: \(error)") }
    }

    /// The value of a name; nil for none and for null.
    func value(_ name: String) -> JSONValue? {
        asked.insert(name)
        guard let value = values[name] else { return nil }
        if case .null = value { return nil }
        return value
    }

    private func typeMismatch(_ name: String, _ value: JSONValue, _ wanted: String) -> TrainingError {
        TrainingError("\(name) of \(owner) is \(value.words), where \(wanted) is expected")
    }

    func integer(_ name: String) throws -> Int? {
        switch value(name) {
        case nil: return nil
        case .integer(let value)?: return value
        case .number(let value)? where value == value.rounded() && abs(value) < 0x1p62: return Int(value)
        case let value?: throw typeMismatch(name, value, "a whole number")
        }
    }

    func number(_ name: String) throws -> Double? {
        switch value(name) {
        case nil: return nil
        case .integer(let value)?: return Double(value)
        case .number(let value)?: return value
        case let value?: throw typeMismatch(name, value, "a number")
        }
    }

    func flag(_ name: String) throws -> Bool? {
        switch value(name) {
        case nil: return nil
        case .flag(let value)?: return value
        case let value?: throw typeMismatch(name, value, "True or False")
        }
    }

    func text(_ name: String) throws -> String? {
        switch value(name) {
        case nil: return nil
        case .text(let value)?: return value
        case let value?: throw typeMismatch(name, value, "text")
        }
    }

    func texts(_ name: String) throws -> [String]? {
        switch value(name) {
        case nil: return nil
        case .list(let list)?:
            return try list.map { element in
                guard case .text(let text) = element else { throw typeMismatch(name, element, "text in a list") }
                return text
            }
        case let value?: throw typeMismatch(name, value, "a list of texts")
        }
    }

    func integers(_ name: String) throws -> [Int]? {
        switch value(name) {
        case nil: return nil
        case .list(let list)?:
            return try list.map { element in
                guard case .integer(let number) = element else {
                    throw typeMismatch(name, element, "a whole number in a list")
                }
                return number
            }
        case let value?: throw typeMismatch(name, value, "a list of whole numbers")
        }
    }

    /// Identifiers: texts or whole numbers.
    func identifiers(_ name: String) throws -> [JSONValue]? {
        switch value(name) {
        case nil: return nil
        case .list(let list)?: return list
        case let value?: throw typeMismatch(name, value, "a list of texts or whole numbers")
        }
    }

    func options(_ name: String) throws -> Options? {
        switch value(name) {
        case nil: return nil
        case .object(let values)?: return Options(values, of: "\(owner)'s \(name)")
        case let value?: throw typeMismatch(name, value, "a dictionary")
        }
    }

    /// The augmentations that a list of names stands for; nil where there is no list.
    func augmentations<Set: OptionSet>(_ known: [(name: String, option: Set)]) throws -> Set?
    where Set.Element == Set {
        guard let names = try texts("augmentations") else { return nil }
        var result: Set = []
        for given in names {
            guard let found = known.first(where: { $0.name == given }) else {
                let all = known.map(\.name).joined(separator: ", ")
                throw TrainingError("'\(given)' is not an augmentation; the augmentations are \(all)")
            }
            result.insert(found.option)
        }
        return result
    }

    /// The case of an enumeration that a text names.
    func choice<Choice: CaseIterable & RawRepresentable>(_ name: String, _: Choice.Type) throws -> Choice?
    where Choice.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let found = Choice(rawValue: text) else {
            let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw TrainingError("\(name) of \(owner) is '\(text)'; it is one of \(names)")
        }
        return found
    }

    /// - Throws: An error for a name that nothing has read.
    func finish() throws {
        guard let name = values.keys.sorted().first(where: { !asked.contains($0) }) else { return }
        throw TrainingError("\(owner) has no parameter '\(name)'; it has \(asked.sorted().joined(separator: ", "))")
    }
}

/// A request that cannot be carried out.
struct TrainingError: Error, LocalizedError, CustomStringConvertible {
    let description: String
    var errorDescription: String? { description }

    init(_ description: String) { self.description = description }
}
