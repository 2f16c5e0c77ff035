/// A relational database that the server keeps its records in.
///
/// SQL is written once, in the subset that SQLite and PostgreSQL have in common, with `?` for arguments. Numbers are
/// `BIGINT` or `DOUBLE PRECISION`, texts contain no NUL, and the order of texts depends on the database.
public protocol Database: Sendable {
    /// Runs `body` on one consistent state, which it must not change.
    func read<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R

    /// Runs `body` as one transaction, which is stored durably when this returns and undone when it throws.
    ///
    /// Conflicting transactions run one after the other. `body` may run several times before it succeeds once, and its
    /// transaction can only fail after one of its statements did.
    func write<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R

    /// Runs `body` unless another process, or another task of this one, runs something under the same name.
    ///
    /// A process that ends releases its names. One that only loses its connection to the database releases them without
    /// noticing: what `body` writes must be right even if it runs twice at a time, which transactions ensure. The name
    /// has letters a–z, digits and hyphens. Returns `nil` if another process holds it.
    func exclusively<R: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R?

    /// The dialect's names of column types.
    var dialect: Dialect { get }

    /// Closes the database; nothing may use it afterwards.
    func close() async throws
}

/// The differences between the SQL dialects of databases.
public struct Dialect: Sendable {
    /// The type of columns of bytes.
    public let bytes: String

    /// Creates a dialect.
    public init(bytes: String) { self.bytes = bytes }
}

/// A database within a transaction.
public protocol Connection {
    /// Runs a statement and returns the number of rows that it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: [Value]) throws -> Int

    /// Runs a statement and returns its rows.
    func query(_ sql: String, _ arguments: [Value]) throws -> [Row]
}

extension Connection {
    /// Runs a statement with arguments of any convertible type; `nil` stands for NULL.
    @discardableResult
    public func execute(_ sql: String, _ arguments: (any ValueConvertible)?...) throws -> Int {
        try execute(sql, arguments.map { $0?.value ?? .null })
    }

    /// Returns the rows of a statement with arguments of any convertible type; `nil` stands for NULL.
    public func query(_ sql: String, _ arguments: (any ValueConvertible)?...) throws -> [Row] {
        try query(sql, arguments.map { $0?.value ?? .null })
    }

    /// The first row of a statement; `nil` when there is none.
    public func first(_ sql: String, _ arguments: (any ValueConvertible)?...) throws -> Row? {
        try query(sql, arguments.map { $0?.value ?? .null }).first
    }
}

/// A value of a column.
public enum Value: Sendable, Equatable {
    /// No value.
    case null
    /// An integer; also 0 and 1 for Booleans.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text without NUL.
    case text(String)
    /// Bytes.
    case bytes([UInt8])
}

/// A type whose values can be stored in columns.
public protocol ValueConvertible: Sendable {
    /// The value as a column stores it.
    var value: Value { get }
}

extension Value: ValueConvertible {
    /// The value itself.
    public var value: Value { self }
}
extension String: ValueConvertible {
    /// The text.
    public var value: Value { .text(self) }
}
extension Int64: ValueConvertible {
    /// The integer.
    public var value: Value { .integer(self) }
}
extension Int: ValueConvertible {
    /// The integer.
    public var value: Value { .integer(Int64(self)) }
}
extension Bool: ValueConvertible {
    /// 1 for true, 0 for false.
    public var value: Value { .integer(self ? 1 : 0) }
}
extension Double: ValueConvertible {
    /// The number.
    public var value: Value { .real(self) }
}
extension [UInt8]: ValueConvertible {
    /// The bytes.
    public var value: Value { .bytes(self) }
}

/// A row of a result.
public struct Row: Sendable {
    private let names: [String: Int]
    private let values: [Value]

    /// Creates a row from its values and the indices of the columns by name.
    public init(names: [String: Int], values: [Value]) {
        self.names = names
        self.values = values
    }

    /// The value of a column; throws ``DatabaseError/missing(_:)`` if the statement has no column with this name.
    public subscript(_ name: String) -> Value {
        get throws {
            guard let index = names[name] else { throw DatabaseError.missing(name) }
            return values[index]
        }
    }

    /// The text in a column; throws ``DatabaseError/unexpected(_:_:)`` for other values.
    public func text(_ name: String) throws -> String {
        let found = try self[name]
        guard case .text(let value) = found else { throw DatabaseError.unexpected(name, found) }
        return value
    }

    /// The text in a column; `nil` for NULL.
    public func optionalText(_ name: String) throws -> String? { try self[name] == .null ? nil : text(name) }

    /// The integer in a column; throws ``DatabaseError/unexpected(_:_:)`` for other values.
    public func integer(_ name: String) throws -> Int {
        let found = try self[name]
        guard case .integer(let value) = found else { throw DatabaseError.unexpected(name, found) }
        return Int(value)
    }

    /// The integer in a column; `nil` for NULL.
    public func optionalInteger(_ name: String) throws -> Int? { try self[name] == .null ? nil : integer(name) }

    /// Whether the integer in a column is not 0.
    public func bool(_ name: String) throws -> Bool { try integer(name) != 0 }

    /// The bytes in a column; throws ``DatabaseError/unexpected(_:_:)`` for other values.
    public func bytes(_ name: String) throws -> [UInt8] {
        let found = try self[name]
        guard case .bytes(let value) = found else { throw DatabaseError.unexpected(name, found) }
        return value
    }

    /// The bytes in a column; `nil` for NULL.
    public func optionalBytes(_ name: String) throws -> [UInt8]? { try self[name] == .null ? nil : bytes(name) }
}

/// An error of a database.
public enum DatabaseError: Error, Sendable, CustomStringConvertible {
    /// A record that would exist twice, or refers to one that does not exist.
    case constraint(String)
    /// A column, by its name, holds a value that no version of the server writes.
    case unexpected(String, Value)
    /// A statement of the server has no column with this name.
    case missing(String)
    /// The database was written by a newer server, with the versions of its tables and of this server's.
    case newer(found: Int, known: Int)
    /// Any other error that the database reports: it is damaged, full, or cannot be reached.
    case failure(String)

    /// The error message, with advice.
    public var description: String {
        switch self {
        case .constraint(let what): "The database refuses the change: \(what)."
        case .unexpected(let name, let value):
            "The column \(name) holds \(value), which no server writes: the database was changed by hand or is damaged; "
                + "restore a backup."
        case .missing(let name): "A statement has no column \(name); this is a defect of the server."
        case .newer(let found, let known):
            "The database has version \(found), but this server supports version \(known): use the newer server, or restore "
                + "a backup of the older one."
        case .failure(let what): "The database cannot be used: \(what)."
        }
    }
}
