/// Takes the members of an object one by one; the rest, unknown to the specification, is kept.
struct Fields {
    private(set) var rest: [Name: MetadataValue]
    let role: String
    /// The object's place, for errors: `signed`, `keys`.
    let place: String

    init(_ value: MetadataValue, role: String, place: String) throws(UpdateError) {
        guard case .object(let members) = value else { throw .malformed(role, "\(place) is not an object") }
        self.rest = members
        self.role = role
        self.place = place
    }

    mutating func take(_ name: Name) -> MetadataValue? { rest.removeValue(forKey: name) }

    mutating func value(_ name: Name) throws(UpdateError) -> MetadataValue {
        guard let value = take(name) else { throw error("\(place) has no \"\(name)\"") }
        return value
    }

    mutating func string(_ name: Name) throws(UpdateError) -> String {
        guard let text = try value(name).string else { throw typeMismatch(name, "text") }
        return text
    }

    /// A whole number that is at least `minimum`.
    mutating func int(_ name: Name, atLeast minimum: Int) throws(UpdateError) -> Int {
        guard let number = try value(name).int, number >= minimum else {
            throw typeMismatch(name, "whole number from \(minimum) to \(Int.max)")
        }
        return number
    }

    mutating func bool(_ name: Name) throws(UpdateError) -> Bool {
        guard case .bool(let flag) = try value(name) else { throw typeMismatch(name, "true or false") }
        return flag
    }

    mutating func array(_ name: Name) throws(UpdateError) -> [MetadataValue] {
        guard case .array(let values) = try value(name) else { throw typeMismatch(name, "list") }
        return values
    }

    mutating func strings(_ name: Name) throws(UpdateError) -> [String] {
        var texts: [String] = []
        for value in try array(name) {
            guard let text = value.string else { throw typeMismatch(name, "list of texts") }
            texts.append(text)
        }
        return texts
    }

    mutating func object(_ name: Name) throws(UpdateError) -> [Name: MetadataValue] {
        guard case .object(let members) = try value(name) else { throw typeMismatch(name, "object") }
        return members
    }

    private func typeMismatch(_ name: Name, _ kind: String) -> UpdateError {
        error("\"\(name)\" of \(place) is not valid: \(kind)")
    }

    private func error(_ message: String) -> UpdateError { .malformed(role, message) }
}
