import CPQ

/// The address of a PostgreSQL database.
struct PostgreSQLAddress: Sendable, CustomStringConvertible {
    /// The parameters that libpq connects with.
    let parameters: [String: String]

    /// Reads an address; errors do not repeat the text, because it may contain a password.
    init(_ text: String) throws {
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://"), !text.utf8.contains(0) else {
            throw DatabaseError.failure("its address does not begin with postgres://")
        }
        guard let options = PQconninfoParse(text, nil) else {
            throw DatabaseError.failure(
                "its address is not as PostgreSQL's: postgres://user@host:port/database?option=value, with % and two digits "
                    + "for signs that have a meaning there"
            )
        }
        defer { PQconninfoFree(options) }
        var parameters = [
            "application_name": "coreml-server", "connect_timeout": "10", "tcp_user_timeout": "30000",
        ]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        parameters["client_encoding"] = "UTF8"
        self.parameters = parameters
    }

    var description: String {
        let place = [parameters["host"], parameters["port"]].compactMap { $0 }.joined(separator: ":")
        return "PostgreSQL at \(place.isEmpty ? "the local socket" : place)/\(parameters["dbname"] ?? "")"
    }
}

/// A statement that PostgreSQL refused, or a connection that ended.
struct PostgreSQLFailure {
    /// The SQLSTATE, five letters and digits (PostgreSQL's manual, appendix A); `nil` when the connection ended.
    let state: String?
    let message: String

    var error: DatabaseError { state?.hasPrefix("23") ?? false ? .constraint(message) : .failure(message) }

    /// Whether the same transaction may succeed when it is begun again.
    func permitsRetry(_ attempt: Int) -> Bool {
        switch state {
        // Serialization failure, deadlock, a statement prepared for other tables, the name of a prepared statement.
        case "40001", "40P01", "0A000", "26000": true
        // Two transactions that create the same row, type or table conflict like this.
        case "23505", "42710", "42P07": attempt < 4
        // The connection ended; shutdown, crash, start of the server.
        case nil, "57P01", "57P02", "57P03": attempt < 2
        default: false
        }
    }
}

/// A connection of libpq; used by one thread at a time.
final class PostgreSQLLink: Connection {
    private let pointer: OpaquePointer
    private let address: PostgreSQLAddress
    /// The names of prepared statements by their SQL.
    private var prepared: [String: String] = [:]
    /// The first failure of the current transaction.
    private(set) var failure: PostgreSQLFailure?

    init(_ address: PostgreSQLAddress) throws {
        self.address = address
        pointer = try Self.connect(address)
        try check()
    }

    deinit { PQfinish(pointer) }

    var isLost: Bool { PQstatus(pointer) != CONNECTION_OK }

    func forgetFailure() { failure = nil }

    private static func connect(_ address: PostgreSQLAddress) throws -> OpaquePointer {
        let parameters = address.parameters.sorted { $0.key < $1.key }
        let texts = (parameters.map(\.key) + parameters.map(\.value)).map { Array($0.utf8CString) }
        let pointer = withPointers(texts.map { $0 }) { pointers in
            PQconnectdbParams(
                Array(pointers.prefix(parameters.count)) + [nil],
                Array(pointers.dropFirst(parameters.count)) + [nil],
                0
            )
        }
        guard let pointer else { throw DatabaseError.failure("\(address): no memory for a connection") }
        guard PQstatus(pointer) == CONNECTION_OK else {
            defer { PQfinish(pointer) }
            throw DatabaseError.failure("\(address): \(text(PQerrorMessage(pointer)))")
        }
        // Notices are for people at a terminal.
        PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        return pointer
    }

    /// Checks and sets everything that the server relies on.
    private func check() throws {
        guard PQserverVersion(pointer) >= 150_000 else {
            throw DatabaseError.failure("\(address): its version is below 15")
        }
        let settings = try query("SELECT current_setting('server_encoding') AS encoding", [])
        guard try settings.first?.text("encoding") == "UTF8" else {
            throw DatabaseError.failure("\(address): its encoding is not UTF8")
        }
        try run("SET bytea_output TO hex")
        try run("SET standard_conforming_strings TO on")
        try run(
            "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
        )
    }

    // MARK: Statements

    /// Runs a statement without arguments, unprepared.
    func run(_ sql: String) throws {
        let result = PQexec(pointer, sql)
        defer { PQclear(result) }
        try check(result, sql)
        if sql == "COMMIT", Self.text(PQcmdStatus(result)) != "COMMIT" {
            throw DatabaseError.failure("\(address): a statement failed and was ignored")
        }
    }

    func execute(_ sql: String, _ arguments: [Value]) throws -> Int {
        let result = try perform(sql, arguments)
        defer { PQclear(result) }
        return Int(Self.text(PQcmdTuples(result))) ?? 0
    }

    func query(_ sql: String, _ arguments: [Value]) throws -> [Row] {
        let result = try perform(sql, arguments)
        defer { PQclear(result) }
        let columns = PQnfields(result)
        let names = Dictionary((0..<columns).map { (Self.text(PQfname(result, $0)), Int($0)) }) { first, _ in first }
        return try (0..<PQntuples(result)).map { row in
            Row(names: names, values: try (0..<columns).map { try Self.value(result, row, $0) })
        }
    }

    private func perform(_ sql: String, _ arguments: [Value]) throws -> OpaquePointer? {
        let name = try statement(sql)
        let texts = try arguments.map(Self.parameter)
        let result = withPointers(texts.map { $0?.bytes }) { pointers in
            PQexecPrepared(
                pointer,
                name,
                Int32(texts.count),
                pointers,
                texts.map { Int32($0?.bytes.count ?? 0) },
                texts.map { $0?.isBinary ?? false ? 1 : 0 },
                0
            )
        }
        do { try check(result, sql) } catch {
            PQclear(result)
            // The tables that the statement was prepared for have changed.
            if failure?.state == "0A000" || failure?.state == "26000" { prepared[sql] = nil }
            throw error
        }
        return result
    }

    private static let maximumStatementCount = 500

    private func statement(_ sql: String) throws -> String {
        if let name = prepared[sql] { return name }
        if prepared.count >= Self.maximumStatementCount {
            try run("DEALLOCATE ALL")
            prepared = [:]
        }
        let name = "s\(prepared.count)_\(serial)"
        serial += 1
        let result = PQprepare(pointer, name, numberingArguments(of: sql), 0, nil)
        defer { PQclear(result) }
        try check(result, sql)
        prepared[sql] = name
        return name
    }

    private var serial = 0

    private func check(_ result: OpaquePointer?, _ sql: String) throws {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return
        default:
            let state = result.flatMap { PQresultErrorField($0, Int32(UInt8(ascii: "C"))) }.map { String(cString: $0) }
            let message =
                result.flatMap { PQresultErrorField($0, Int32(UInt8(ascii: "M"))) }.map { String(cString: $0) }
                ?? Self.text(PQerrorMessage(pointer))
            let new = PostgreSQLFailure(state: isLost ? nil : state, message: "\(address): \(message)")
            // Later failures in the transaction only say that there was an earlier one.
            if failure == nil { failure = new }
            throw new.error
        }
    }

    // MARK: Values

    private static func parameter(_ value: Value) throws -> (bytes: [CChar], isBinary: Bool)? {
        switch value {
        case .null: return nil
        case .integer(let value): return (Array(String(value).utf8CString), false)
        case .real(let value): return (Array(value.description.utf8CString), false)
        case .text(let value):
            guard !value.utf8.contains(0) else {
                throw DatabaseError.failure("a text contains NUL, which is not allowed")
            }
            return (Array(value.utf8CString), false)
        case .bytes(let value):
            // libpq takes a null pointer for NULL, so an empty value is sent as text.
            return value.isEmpty ? ([0x5C, 0x78, 0], false) : (value.map { CChar(bitPattern: $0) }, true)
        }
    }

    private static func value(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) throws -> Value {
        guard PQgetisnull(result, row, column) == 0 else { return .null }
        let content = PQgetvalue(result, row, column)
        let text = text(content)
        // Object identifiers of pg_type.dat, which never change.
        switch PQftype(result, column) {
        case 16: return .integer(text == "t" ? 1 : 0)
        case 20, 21, 23:
            guard let number = Int64(text) else { throw DatabaseError.failure("\"\(text)\" is not an integer") }
            return .integer(number)
        case 700, 701:
            guard let number = Double(text) else { throw DatabaseError.failure("\"\(text)\" is not a number") }
            return .real(number)
        case 1700:
            // Sums of integers.
            guard let number = Int64(text) else {
                throw DatabaseError.failure("\"\(text)\" is not an integer of 64 bits")
            }
            return .integer(number)
        case 17: return .bytes(try bytes(content))
        case 18, 19, 25, 705, 1042, 1043: return .text(text)
        case let type: throw DatabaseError.failure("a column is of the type \(type), which the server does not use")
        }
    }

    private static func bytes(_ content: UnsafePointer<CChar>?) throws -> [UInt8] {
        guard let content else { return [] }
        var count = 0
        let bytes = content.withMemoryRebound(to: UInt8.self, capacity: 1) { PQunescapeBytea($0, &count) }
        guard let bytes else { throw DatabaseError.failure("no memory for a column's bytes") }
        defer { PQfreemem(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private static func text(_ pointer: UnsafePointer<CChar>?) -> String {
        pointer.map { String(cString: $0) } ?? ""
    }
}

/// Calls `body` with pointers to arrays, `nil` for `nil`.
private func withPointers<R>(_ arrays: [[CChar]?], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
    let all = arrays.flatMap { $0 ?? [] }
    return all.withUnsafeBufferPointer { buffer in
        var position = 0
        return body(
            arrays.map { array in
                guard let array else { return nil }
                defer { position += array.count }
                return buffer.baseAddress.map { $0 + position }
            }
        )
    }
}

/// A statement with `$1`, `$2`… for its `?`, except in literals, quoted names and comments.
func numberingArguments(of sql: String) -> String {
    var result: [UInt8] = []
    var quote: UInt8?
    var isComment = false
    var number = 0
    var previous: UInt8 = 0
    for byte in sql.utf8 {
        defer { previous = byte }
        if isComment {
            isComment = byte != UInt8(ascii: "\n")
        } else if let open = quote {
            if byte == open { quote = nil }
        } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
            quote = byte
        } else if byte == UInt8(ascii: "-"), previous == byte {
            isComment = true
        } else if byte == UInt8(ascii: "?") {
            number += 1
            result += Array("$\(number)".utf8)
            continue
        }
        result.append(byte)
    }
    return String(decoding: result, as: UTF8.self)
}
