extension Column {
    /// Returns a column of the values that `decoder` decodes from the elements; missing ones stay missing.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: Takes elements of the column's type, such as `JSONDecoder` for `Data`.
    /// - Returns: A column of the same name.
    /// - Throws: `ColumnDecodingError` for the first element that causes a `DecodingError`; other errors of `decoder`
    ///   as they are.
    public func decoded<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        using decoder: Decoder
    ) throws -> Column<T> where Decoder.Input == WrappedElement {
        var result = Column<T>(name: name, capacity: count)
        for row in 0..<count {
            do {
                result.append(try storage[row].map { try decoder.decode(type, from: $0) })
            } catch let error as DecodingError {
                throw ColumnDecodingError(columnName: name, rowIndex: row, decodingError: error)
            }
        }
        return result
    }
}

extension Column where WrappedElement: Encodable {
    /// Returns a column of the encoded elements; missing ones stay missing.
    ///
    /// - Parameter encoder: Encodes the elements, such as `JSONEncoder`.
    /// - Returns: A column of the same name.
    /// - Throws: `ColumnEncodingError` for the first element that causes an `EncodingError`; other errors of
    ///   `encoder` as they are.
    public func encoded<Encoder: TopLevelEncoder>(using encoder: Encoder) throws -> Column<Encoder.Output> {
        var result = Column<Encoder.Output>(name: name, capacity: count)
        for row in 0..<count {
            do {
                result.append(try storage[row].map { try encoder.encode($0) })
            } catch let error as EncodingError {
                throw ColumnEncodingError(columnName: name, rowIndex: row, encodingError: error)
            }
        }
        return result
    }
}

private enum ColumnKey: String, CodingKey {
    case name, contents
}

extension Column: Encodable where WrappedElement: Encodable {
    /// Encodes the keys `name` and `contents`, a list of the elements with nil for missing ones.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ColumnKey.self)
        try container.encode(name, forKey: .name)
        var contents = container.nestedUnkeyedContainer(forKey: .contents)
        for element in self { if let element { try contents.encode(element) } else { try contents.encodeNil() } }
    }
}

extension Column: Decodable where WrappedElement: Decodable {
    /// Decodes a column from the keys `name` and `contents`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ColumnKey.self)
        self.init(name: try container.decode(String.self, forKey: .name), capacity: 0)
        var contents = try container.nestedUnkeyedContainer(forKey: .contents)
        while !contents.isAtEnd {
            append(try contents.decodeNil() ? nil : .some(contents.decode(WrappedElement.self)) as WrappedElement?)
        }
    }
}

extension AnyColumn {
    /// Returns a column of the values that `decoder` decodes from the elements; missing ones stay missing.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: Takes elements of the column's type; another type is a fatal error.
    /// - Returns: A column of the same name.
    /// - Throws: `ColumnDecodingError` for the first element that causes a `DecodingError`; other errors of `decoder`
    ///   as they are.
    public func decoded<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        using decoder: Decoder
    ) throws -> AnyColumn {
        AnyColumn(try assumingType(Decoder.Input.self).decoded(type, using: decoder))
    }

    /// Returns a column of the encoded elements; missing ones stay missing.
    ///
    /// - Parameters:
    ///   - type: The type of the elements; another type is a fatal error.
    ///   - encoder: Encodes the elements, such as `JSONEncoder`.
    /// - Returns: A column of the same name.
    /// - Throws: `ColumnEncodingError` for the first element that causes an `EncodingError`; other errors of
    ///   `encoder` as they are.
    public func encoded<T: Encodable, Encoder: TopLevelEncoder>(
        _ type: T.Type,
        using encoder: Encoder
    ) throws -> AnyColumn {
        AnyColumn(try assumingType(type).encoded(using: encoder))
    }

    /// Replaces the elements by the values that `decoder` decodes from them.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - decoder: Takes elements of the column's type; another type is a fatal error.
    /// - Throws: `ColumnDecodingError`, or another error of `decoder`; the column is then unchanged.
    public mutating func decode<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        using decoder: Decoder
    ) throws {
        self = try decoded(type, using: decoder)
    }

    /// Replaces the elements by their encoded form.
    ///
    /// - Parameters:
    ///   - type: The type of the elements; another type is a fatal error.
    ///   - encoder: Encodes the elements, such as `JSONEncoder`.
    /// - Throws: `ColumnEncodingError`, or another error of `encoder`; the column is then unchanged.
    public mutating func encode<T: Encodable, Encoder: TopLevelEncoder>(
        _ type: T.Type,
        using encoder: Encoder
    ) throws {
        self = try encoded(type, using: encoder)
    }
}

extension DataFrame {
    /// Replaces the elements of a column by the values that `decoder` decodes from them.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - columnName: The column's name or alias.
    ///   - decoder: Takes elements of the column's type; another type is a fatal error.
    /// - Throws: `ColumnDecodingError`, or another error of `decoder`; the frame is then unchanged.
    public mutating func decode<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        inColumn columnName: String,
        using decoder: Decoder
    ) throws {
        replaceColumn(columnName, with: try self[columnName].decoded(type, using: decoder))
    }

    /// Replaces the elements of the column `id` by the values that `decoder` decodes from them.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - id: The column.
    ///   - decoder: Takes its elements.
    /// - Throws: `ColumnDecodingError`, or another error of `decoder`; the frame is then unchanged.
    public mutating func decode<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        inColumn id: ColumnID<Decoder.Input>,
        using decoder: Decoder
    ) throws {
        try decode(type, inColumn: id.name, using: decoder)
    }

    /// Replaces the elements of a column by their encoded form.
    ///
    /// - Parameters:
    ///   - columnName: The column's name or alias.
    ///   - type: The type of its elements; another type is a fatal error.
    ///   - encoder: Encodes the elements, such as `JSONEncoder`.
    /// - Throws: `ColumnEncodingError`, or another error of `encoder`; the frame is then unchanged.
    public mutating func encodeColumn<T: Encodable, Encoder: TopLevelEncoder>(
        _ columnName: String,
        _ type: T.Type,
        using encoder: Encoder
    ) throws {
        replaceColumn(columnName, with: try self[columnName].encoded(type, using: encoder))
    }

    /// Replaces the elements of the column `id` by their encoded form.
    ///
    /// - Parameters:
    ///   - id: The column.
    ///   - encoder: Encodes its elements, such as `JSONEncoder`.
    /// - Throws: `ColumnEncodingError`, or another error of `encoder`; the frame is then unchanged.
    public mutating func encodeColumn<T: Encodable, Encoder: TopLevelEncoder>(
        _ id: ColumnID<T>,
        using encoder: Encoder
    ) throws {
        try encodeColumn(id.name, T.self, using: encoder)
    }
}
