import MLLinearTraining
import MLNumerics
import TabularData

/// The identifier of a user or an item.
public protocol MLIdentifier {
    /// The identifier as a value, a string or an integer.
    var identifierValue: MLDataValue { get }
}

extension String: MLIdentifier {
    /// The string as a value.
    public var identifierValue: MLDataValue { .string(self) }
}

extension Int: MLIdentifier {
    /// The integer as a value.
    public var identifierValue: MLDataValue { .int(self) }
}

/// The identifier of a user or an item.
enum Identifier: Hashable, Sendable, CustomStringConvertible {
    case text(String)
    case number(Int64)

    var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): String(number)
        }
    }
}

/// Distinct identifiers, in the order in which they first appear.
struct Identifiers: Sendable {
    private(set) var identifiers: [Identifier] = []
    private(set) var positions: [Identifier: Int] = [:]
    let areTexts: Bool
    private let columnName: String

    var count: Int { identifiers.count }

    var texts: [String]? {
        guard areTexts else { return nil }
        return identifiers.map(\.description)
    }

    var numbers: [Int64] {
        identifiers.map { if case .number(let number) = $0 { number } else { 0 } }
    }

    /// Reads a column of identifiers; `rows` receives the index of each row's identifier.
    /// - Throws: `MLCreateError.type` for columns of other types, `.generic` for missing identifiers.
    init(_ column: AnyColumn, _ role: String, rows: inout [Int32]) throws {
        columnName = column.name
        let values: [Identifier?]
        switch column.wrappedElementType {
        case is String.Type:
            areTexts = true
            values = column.assumingType(String.self).map { $0.map { .text($0) } }
        case is Int.Type:
            areTexts = false
            values = column.assumingType(Int.self).map { $0.map { .number(Int64($0)) } }
        case is Int64.Type:
            areTexts = false
            values = column.assumingType(Int64.self).map { $0.map { .number($0) } }
        case let other:
            throw MLCreateError.type(
                reason: "the \(role) column '\(column.name)' is of type \(other); it must hold strings or whole numbers"
            )
        }
        rows.reserveCapacity(values.count)
        for (row, value) in values.enumerated() {
            guard let value else {
                throw MLCreateError.generic(
                    reason: "row \(row) has no value in the \(role) column '\(column.name)'; remove the row"
                )
            }
            if let position = positions[value] {
                rows.append(Int32(position))
            } else {
                positions[value] = identifiers.count
                rows.append(Int32(identifiers.count))
                identifiers.append(value)
            }
        }
    }

    func identifier(_ value: any MLIdentifier, _ role: String) throws -> Identifier {
        switch value.identifierValue {
        case .string(let text) where areTexts: return .text(text)
        case .int(let number) where !areTexts: return .number(Int64(number))
        default:
            throw MLCreateError.type(
                reason: "the \(role) \(value) is a \(type(of: value)); the column '\(columnName)' holds "
                    + (areTexts ? "strings" : "whole numbers")
            )
        }
    }

    /// The index of an identifier; `nil` if it is not among these.
    func position(_ value: any MLIdentifier, _ role: String) throws -> Int? { positions[try identifier(value, role)] }

    func column(_ name: String, _ positions: [Int]) -> AnyColumn {
        Self.column(name, positions.map { identifiers[$0] }, areTexts)
    }

    static func column(_ name: String, _ values: [Identifier], _ areTexts: Bool) -> AnyColumn {
        if areTexts { return Column<String>(name: name, contents: values.map(\.description)).eraseToAnyColumn() }
        return Column<Int>(
            name: name,
            contents: values.map { if case .number(let number) = $0 { Int(number) } else { 0 } }
        )
        .eraseToAnyColumn()
    }
}

/// Rows of users and items.
struct Choices: Sendable {
    let users: Identifiers
    let items: Identifiers
    /// The index of the user by row.
    let userPlaces: [Int32]
    let itemPlaces: [Int32]

    /// Reads rows; there may be none.
    /// - Throws: `MLCreateError` for columns that are missing or of another type, and for missing identifiers.
    init(_ frame: DataFrame, _ userColumn: String, _ itemColumn: String) throws {
        var (userPlaces, itemPlaces): ([Int32], [Int32]) = ([], [])
        users = try Identifiers(Self.column(frame, userColumn, "user"), "user", rows: &userPlaces)
        items = try Identifiers(Self.column(frame, itemColumn, "item"), "item", rows: &itemPlaces)
        (self.userPlaces, self.itemPlaces) = (userPlaces, itemPlaces)
    }

    fileprivate static func column(_ frame: DataFrame, _ name: String, _ role: String) throws -> AnyColumn {
        guard let column = frame.columns.first(where: { $0.name == name }) else {
            let names = frame.columns.map { "'\($0.name)'" }.joined(separator: ", ")
            throw MLCreateError.generic(reason: "the data have no \(role) column '\(name)'; there are \(names)")
        }
        return column
    }
}

/// Rows of users, items and ratings, at least one.
struct Observations: Sendable {
    private let choices: Choices
    let values: [Double]
    /// The same ratings in the form in which similarities are computed.
    let trained: ItemSimilarities.Ratings
    private let byUser: [[(item: Int, rating: Double)]]

    init(_ frame: DataFrame, _ userColumn: String, _ itemColumn: String, _ ratingColumn: String?) throws {
        let choices = try Choices(frame, userColumn, itemColumn)
        let (userPlaces, itemPlaces) = (choices.userPlaces, choices.itemPlaces)
        let values: [Double]
        if let ratingColumn {
            values = try Self.ratings(Choices.column(frame, ratingColumn, "rating"))
        } else {
            values = [Double](repeating: 1, count: userPlaces.count)
        }
        (self.choices, self.values) = (choices, values)
        trained = try MLCreateError.translating {
            try ItemSimilarities.Ratings(
                users: userPlaces,
                items: itemPlaces,
                values: values,
                userCount: choices.users.count,
                itemCount: choices.items.count
            )
        }
        var byUser = [[Int: Double]](repeating: [:], count: choices.users.count)
        for entry in userPlaces.indices { byUser[Int(userPlaces[entry])][Int(itemPlaces[entry])] = values[entry] }
        self.byUser = byUser.map { own in
            own.sorted { $0.key < $1.key }.map { (item: $0.key, rating: $0.value) }
        }
    }

    var users: Identifiers { choices.users }
    var items: Identifiers { choices.items }
    var userPlaces: [Int32] { choices.userPlaces }
    var itemPlaces: [Int32] { choices.itemPlaces }

    /// A user's items and ratings, sorted by item.
    func ratings(of user: Int) -> [(item: Int, rating: Double)] { byUser[user] }

    private static func ratings(_ column: AnyColumn) throws -> [Double] {
        let values: [Double?]
        switch column.wrappedElementType {
        case is Double.Type: values = Array(column.assumingType(Double.self))
        case is Float.Type: values = column.assumingType(Float.self).map { $0.map(Double.init) }
        case is Int.Type: values = column.assumingType(Int.self).map { $0.map(Double.init) }
        case let other:
            throw MLCreateError.type(
                reason: "the rating column '\(column.name)' is of type \(other); it must hold numbers"
            )
        }
        return try values.enumerated().map { row, value in
            guard let value, value.isFinite else {
                throw MLCreateError.generic(
                    reason: "row \(row) has \(value.map { "the value \($0)" } ?? "no value") in the rating column "
                        + "'\(column.name)'; remove the row"
                )
            }
            return value
        }
    }
}
