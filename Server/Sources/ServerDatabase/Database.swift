/// A relational database that the server keeps its records in.
///
/// SQL is written once, in what SQLite and PostgreSQL have in common, with `?` for arguments.  Numbers are `BIGINT` or
/// `DOUBLE PRECISION`, texts hold no NUL, and how texts are sorted is up to the database.
public protocol Database: Sendable {
    /// Runs `body` on one consistent state, which it must not change.
    func read<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R

    /// Runs `body` as one transaction: all that it changed is stored durably when this returns, and nothing of it when it
    /// throws.  Transactions that contradict each other run one after the other.
    ///
    /// `body` may run several times before it succeeds once, and its transaction can only fail after one of its statements
    /// did.
    func write<R: Sendable>(_ body: @escaping @Sendable (any Connection) throws -> R) async throws -> R

    /// Runs `body` unless another process, or another task of this one, runs something of the same name on the database.
    ///
    /// A process that ends lets go of its names.  One that only loses its way to the database does so without noticing: what
    /// `body` writes must be right even if it runs twice at a time, which transactions see to.
    /// - Parameter name: letters a–z, digits and hyphens.
    /// - Returns: `nil` when somebody else is at it.
    func exclusively<R: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> R
    ) async throws -> R?

    /// The dialect's words for column types.
    var dialect: Dialect { get }

    func close() async throws
}

/// What databases spell differently.
public struct Dialect: Sendable {
    public let bytes: String

    public init(bytes: String) { self.bytes = bytes }
}

/// A database within a transaction.
public protocol Connection {
    /// Runs a statement.
    /// - Returns: how many rows it changed.
    @discardableResult
    func execute(_ sql: String, _ arguments: [Value]) throws -> Int

    /// The rows that a statement gives.
    func query(_ sql: String, _ arguments: [Value]) throws -> [Row]
}

extension Connection {
    @discardableResult
    public func execute(_ sql: String, _ arguments: (any ValueConvertible)?...) throws -> Int {
        try execute(sql, arguments.map { $0?.value ?? .null })
    }

    public func query(_ sql: String, _ arguments: (any ValueConvertible)?...) throws -> [Row] {
        try query(sql, arguments.map { $0?.value ?? .null })
    }

    /// The first row, if there is one.
    public func first(_ sql: String, _ arguments: (any ValueConvertible)?...) throws -> Row? {
        try query(sql, arguments.map { $0?.value ?? .null }).first
    }
}

/// What a column holds.
public enum Value: Sendable, Equatable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
}

/// A type whose values columns hold.
public protocol ValueConvertible: Sendable {
    var value: Value { get }
}

extension Value: ValueConvertible { public var value: Value { self } }
extension String: ValueConvertible { public var value: Value { .text(self) } }
extension Int64: ValueConvertible { public var value: Value { .integer(self) } }
extension Int: ValueConvertible { public var value: Value { .integer(Int64(self)) } }
extension Bool: ValueConvertible { public var value: Value { .integer(self ? 1 : 0) } }
extension Double: ValueConvertible { public var value: Value { .real(self) } }
extension [UInt8]: ValueConvertible { public var value: Value { .bytes(self) } }

/// A row of a result.
public struct Row: Sendable {
    private let names: [String: Int]
    private let values: [Value]

    public init(names: [String: Int], values: [Value]) {
        self.names = names
        self.values = values
    }

    /// The value of a column; one that the statement does not name is a mistake in the statement.
    public subscript(_ name: String) -> Value {
        guard let index = names[name] else { preconditionFailure("the statement has no column \(name)") }
        return values[index]
    }

    public func text(_ name: String) throws -> String {
        guard case .text(let value) = self[name] else { throw DatabaseError.unexpected(name, self[name]) }
        return value
    }

    public func optionalText(_ name: String) throws -> String? { self[name] == .null ? nil : try text(name) }

    public func integer(_ name: String) throws -> Int {
        guard case .integer(let value) = self[name] else { throw DatabaseError.unexpected(name, self[name]) }
        return Int(value)
    }

    public func optionalInteger(_ name: String) throws -> Int? { self[name] == .null ? nil : try integer(name) }

    public func bool(_ name: String) throws -> Bool { try integer(name) != 0 }

    public func bytes(_ name: String) throws -> [UInt8] {
        guard case .bytes(let value) = self[name] else { throw DatabaseError.unexpected(name, self[name]) }
        return value
    }

    public func optionalBytes(_ name: String) throws -> [UInt8]? { self[name] == .null ? nil : try bytes(name) }
}

/// What goes wrong in a database.
public enum DatabaseError: Error, Sendable, CustomStringConvertible {
    /// A record that would stand there twice, or refers to one that does not exist.
    case constraint(String)
    /// A column holds what no version of the server has written.
    case unexpected(String, Value)
    /// The database was written by a newer server.
    case newer(found: Int, known: Int)
    /// Anything that the database says of itself: it is damaged, full, or cannot be reached.
    case failure(String)

    public var description: String {
        switch self {
        case .constraint(let what): "The database refuses the change: \(what)."
        case .unexpected(let name, let value):
            "The column \(name) holds \(value), which no server writes: the database was changed by hand or is damaged; "
                + "restore a backup."
        case .newer(let found, let known):
            "The database is of version \(found), this server knows \(known): use the newer server, or restore a backup of "
                + "the older one."
        case .failure(let what): "The database cannot be used: \(what)."
        }
    }
}
