extension Column {
    /// The column of what `decoder` makes of each element.  Throws `ColumnDecodingError`, or what else it throws.
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
    /// The column of what `encoder` makes of each element.  Throws `ColumnEncodingError`, or what else it throws.
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
    /// A name and a list of elements, nil where one is missing.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ColumnKey.self)
        try container.encode(name, forKey: .name)
        var contents = container.nestedUnkeyedContainer(forKey: .contents)
        for element in self { if let element { try contents.encode(element) } else { try contents.encodeNil() } }
    }
}

extension Column: Decodable where WrappedElement: Decodable {
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
    /// The column of what `decoder` makes of each element; elements must be what it takes.
    public func decoded<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        using decoder: Decoder
    ) throws -> AnyColumn {
        AnyColumn(try assumingType(Decoder.Input.self).decoded(type, using: decoder))
    }

    /// The column of what `encoder` makes of each element; elements must be of the type.
    public func encoded<T: Encodable, Encoder: TopLevelEncoder>(
        _ type: T.Type,
        using encoder: Encoder
    ) throws -> AnyColumn {
        AnyColumn(try assumingType(type).encoded(using: encoder))
    }

    public mutating func decode<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        using decoder: Decoder
    ) throws {
        self = try decoded(type, using: decoder)
    }

    public mutating func encode<T: Encodable, Encoder: TopLevelEncoder>(
        _ type: T.Type,
        using encoder: Encoder
    ) throws {
        self = try encoded(type, using: encoder)
    }
}

extension DataFrame {
    /// Puts what `decoder` makes of a column in its place.
    public mutating func decode<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        inColumn columnName: String,
        using decoder: Decoder
    ) throws {
        replaceColumn(columnName, with: try self[columnName].decoded(type, using: decoder))
    }

    /// Puts what `decoder` makes of a column in its place.
    public mutating func decode<T: Decodable, Decoder: TopLevelDecoder>(
        _ type: T.Type,
        inColumn id: ColumnID<Decoder.Input>,
        using decoder: Decoder
    ) throws {
        try decode(type, inColumn: id.name, using: decoder)
    }

    /// Puts what `encoder` makes of a column in its place.
    public mutating func encodeColumn<T: Encodable, Encoder: TopLevelEncoder>(
        _ columnName: String,
        _ type: T.Type,
        using encoder: Encoder
    ) throws {
        replaceColumn(columnName, with: try self[columnName].encoded(type, using: encoder))
    }

    /// Puts what `encoder` makes of a column in its place.
    public mutating func encodeColumn<T: Encodable, Encoder: TopLevelEncoder>(
        _ id: ColumnID<T>,
        using encoder: Encoder
    ) throws {
        try encodeColumn(id.name, T.self, using: encoder)
    }
}
