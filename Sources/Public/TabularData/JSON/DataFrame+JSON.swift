public import Foundation

extension DataFrame {
    /// Reads the objects in a list in a JSON file, each of which becomes a row.
    ///
    /// - Parameters:
    ///   - url: A file in UTF-8.
    ///   - columns: The keys to read, in that order; by default all, in the order in which they first appear. At least
    ///     one object must have each key, unless there are no objects.
    ///   - types: The types of columns by name; those of other columns follow from their values.
    ///   - options: The formats of dates.
    /// - Throws: `JSONReadingError`; `DecodingError` for text that is not JSON and for a key that no object has; or the
    ///   file system's error.
    public init(
        contentsOfJSONFile url: URL,
        columns: [String]? = nil,
        types: [String: JSONType] = [:],
        options: JSONReadingOptions = .init()
    ) throws {
        let file = try MappedFile(url)
        defer { withExtendedLifetime(file) {} }
        self = try JSONTable(file.bytes, columns).frame(types, options)
    }

    /// Reads the objects in a list in JSON text, each of which becomes a row.
    ///
    /// - Parameters:
    ///   - data: Text in UTF-8.
    ///   - columns: The keys to read, in that order; by default all, in the order in which they first appear. At least
    ///     one object must have each key, unless there are no objects.
    ///   - types: The types of columns by name; those of other columns follow from their values.
    ///   - options: The formats of dates.
    /// - Throws: `JSONReadingError`, or `DecodingError` for text that is not JSON and for a key that no object has.
    public init(
        jsonData data: Data,
        columns: [String]? = nil,
        types: [String: JSONType] = [:],
        options: JSONReadingOptions = .init()
    ) throws {
        self = try data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            try JSONTable(bytes.assumingMemoryBound(to: UInt8.self), columns).frame(types, options)
        }
    }
}

/// A list of objects, stored by column.
private struct JSONTable {
    private var names: [String] = []
    private var values: [[JSONValue]] = []

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ columns: [String]?) throws {
        guard case .array(let rows) = try JSONParser.parse(bytes) else { throw JSONReadingError.unsupportedStructure }
        if rows.count > RowSelection.maximumRowCount { throw JSONReadingError.unsupportedStructure }
        var positions: [String: Int] = [:]
        var isFound: [Bool] = []
        for name in columns ?? [] where positions[name] == nil {
            positions[name] = names.count
            names.append(name)
            values.append([])
            isFound.append(false)
        }
        for (row, value) in rows.enumerated() {
            guard case .object(let members) = value else { throw JSONReadingError.unsupportedStructure }
            for (key, value) in members {
                let position: Int
                if let known = positions[key] {
                    position = known
                } else {
                    if columns != nil { continue }
                    position = names.count
                    positions[key] = position
                    names.append(key)
                    values.append(Array(repeating: .null, count: row))
                    isFound.append(false)
                }
                isFound[position] = true
                // The last of several equal keys counts.
                if values[position].count > row {
                    values[position][row] = value
                } else {
                    values[position].append(value)
                }
            }
            for position in values.indices where values[position].count == row { values[position].append(.null) }
        }
        if !rows.isEmpty, let position = isFound.firstIndex(of: false) { throw Self.missing(names[position], in: rows) }
    }

    /// Returns the error for a key that none of the objects `rows` has.
    private static func missing(_ key: String, in rows: [JSONValue]) -> DecodingError {
        var keys: [String] = []
        var taken: Set<String> = []
        for case .object(let members) in rows {
            for (key, _) in members where taken.insert(key).inserted { keys.append(key) }
        }
        return .keyNotFound(
            Key(stringValue: key),
            .init(
                codingPath: [],
                debugDescription: "no object has the key '\(key)'; the keys are "
                    + keys.map { "'\($0)'" }.joined(separator: ", ")
            )
        )
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { return nil }
    }

    func frame(_ types: [String: JSONType], _ options: JSONReadingOptions) throws(JSONReadingError) -> DataFrame {
        var frame = DataFrame()
        for (name, values) in zip(names, values) {
            if let type = types[name] {
                frame.append(column: try column(name, values, type, options))
            } else {
                frame.append(column: try inferred(name, values, options))
            }
        }
        return frame
    }

    private func date(_ text: String, _ options: JSONReadingOptions) -> Date? {
        options.dateParsers.lazy.compactMap { $0(text) }.first
    }

    private func make<T>(
        _ name: String,
        _ values: [JSONValue],
        _ element: (Int, JSONValue) throws(JSONReadingError) -> T?
    ) throws(JSONReadingError) -> AnyColumn {
        var column = Column<T>(name: name, capacity: values.count)
        for (row, value) in values.enumerated() { column.append(try element(row, value)) }
        return AnyColumn(column)
    }

    private func column(
        _ name: String,
        _ values: [JSONValue],
        _ type: JSONType,
        _ options: JSONReadingOptions
    ) throws(JSONReadingError) -> AnyColumn {
        func mismatch(_ row: Int, _ value: JSONValue) -> JSONReadingError {
            .wrongType(row: row, column: name, expectedType: type, value: value.shown)
        }
        switch type {
        case .integer:
            return try make(name, values) { (row, value) throws(JSONReadingError) -> Int? in
                switch value {
                case .null: nil
                case .integer(let value): value
                default: throw mismatch(row, value)
                }
            }
        case .double:
            return try make(name, values) { (row, value) throws(JSONReadingError) -> Double? in
                switch value {
                case .null: nil
                case .integer(let value): Double(value)
                case .number(let value): value
                default: throw mismatch(row, value)
                }
            }
        case .boolean:
            return try make(name, values) { (row, value) throws(JSONReadingError) -> Bool? in
                switch value {
                case .null: nil
                case .boolean(let value): value
                default: throw mismatch(row, value)
                }
            }
        case .string:
            return try make(name, values) { (row, value) throws(JSONReadingError) -> String? in
                switch value {
                case .null: nil
                case .string(let value): value
                default: throw mismatch(row, value)
                }
            }
        case .date:
            return try make(name, values) { (row, value) throws(JSONReadingError) -> Date? in
                switch value {
                case .null: return nil
                case .string(let text):
                    guard let date = date(text, options) else {
                        throw .failedToParse(row: row, column: name, type: .date, contents: text)
                    }
                    return date
                default: throw mismatch(row, value)
                }
            }
        case .array:
            return try make(name, values) { (row, value) throws(JSONReadingError) -> [Any?]? in
                switch value {
                case .null: nil
                case .array(let values): values.map(\.any)
                default: throw mismatch(row, value)
                }
            }
        case .object:
            return try make(name, values) { (row, value) throws(JSONReadingError) -> [String: Any?]? in
                switch value {
                case .null: nil
                case .object: value.any as? [String: Any?]
                default: throw mismatch(row, value)
                }
            }
        }
    }

    private func inferred(
        _ name: String,
        _ values: [JSONValue],
        _ options: JSONReadingOptions
    ) throws(JSONReadingError) -> AnyColumn {
        var type: JSONType?
        for value in values {
            let own: JSONType
            switch value {
            case .null: continue
            case .boolean: own = .boolean
            case .integer: own = .integer
            case .number: own = .double
            case .string: own = .string
            case .array: own = .array
            case .object: own = .object
            }
            switch (type, own) {
            case (nil, _): type = own
            case (.integer, .double): type = .double
            case (.double, .integer): break
            case (let found, let own) where found == own: break
            default: throw .incompatibleValues(column: name)
            }
        }
        if type == .string {
            let texts = values.lazy.compactMap { if case .string(let text) = $0 { text } else { nil } }
            if texts.allSatisfy({ date($0, options) != nil }) { type = .date }
        }
        return try column(name, values, type ?? .string, options)
    }
}
