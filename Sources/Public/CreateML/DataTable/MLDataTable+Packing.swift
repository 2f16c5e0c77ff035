import TabularData

extension MLDataTable {
    /// Replaces some columns by one of sequences or dictionaries, which is added at the end.
    /// - Parameters:
    ///   - columnsNamed: The names of the columns to pack, at least one.
    ///   - to: The name of the new column.
    ///   - type: Sequences in the order of the columns, or dictionaries whose keys are the columns' names.
    ///   - filling: The value that replaces missing ones; with `.invalid` dictionaries leave them out.
    /// - Returns: An invalid table if no column is named or one is missing.
    public func pack(
        columnsNamed: String...,
        to: String,
        type: PackType = .sequence,
        filling: MLDataValue = MLDataValue.invalid
    ) -> MLDataTable {
        MLDataTable(catching: {
            guard !columnsNamed.isEmpty else {
                throw MLCreateError.generic(reason: "at least one column is packed; name it")
            }
            let packed = try columnsNamed.map { try column(named: $0).values.map { $0.isValid ? $0 : filling } }
            let rows = (0..<size.rows).map { row in packed.map { $0[row] } }
            let result: MLUntypedColumn =
                switch type {
                case .sequence: MLUntypedColumn(rows.map { MLDataValue.SequenceType($0) })
                case .dictionary:
                    MLUntypedColumn(
                        rows.map { values in
                            MLDataValue.DictionaryType(
                                [MLDataValue: MLDataValue](
                                    zip(columnsNamed, values).filter { $0.1.isValid }.map {
                                        (MLDataValue.string($0.0), $0.1)
                                    },
                                    uniquingKeysWith: { $1 }
                                )
                            )
                        }
                    )
                }
            return try MLDataTable(columns: others(columnsNamed) + [(to, result)])
        })
    }

    /// Replaces a column of sequences or dictionaries by a column for each element, added at the end.
    ///
    /// The new columns are named by the old one and the element's index or key, such as `size.0` or `size.width`; keys
    /// are in ascending order. Where a row has no such element the value is missing.
    /// - Parameters:
    ///   - columnNamed: The name of the column to unpack.
    ///   - valueTypes: The types of the new columns, as many as there are; their own types if `nil`.
    ///   - indexSubset: The indices of the elements to take from sequences; all if `nil`.
    ///   - keySubset: The keys to take from dictionaries; all if `nil`.
    /// - Returns: An invalid table if the column is missing or holds other values, or if a value cannot be converted.
    public func unpack(
        columnNamed: String,
        valueTypes: [MLDataValue.ValueType]? = nil,
        indexSubset: [Int]? = nil,
        keySubset: [String]? = nil
    ) -> MLDataTable {
        MLDataTable(catching: {
            let column = try column(named: columnNamed)
            let values = column.values
            var parts: [(name: String, values: [MLDataValue])]
            switch column.type {
            case .sequence:
                let sequences = values.map(\.sequenceValue)
                let indices = indexSubset ?? Array(0..<(sequences.map { $0?.count ?? 0 }.max() ?? 0))
                parts = indices.map { index in
                    (
                        "\(columnNamed).\(index)",
                        sequences.map { $0.flatMap { $0.indices.contains(index) ? $0[index] : nil } ?? .invalid }
                    )
                }
            case .dictionary:
                let dictionaries = values.map(\.dictionaryValue)
                let all = Set(dictionaries.flatMap { $0?.map(\.key) ?? [] })
                let named = Dictionary(grouping: all, by: \.description)
                let keys = keySubset ?? named.keys.sorted()
                parts = keys.map { key in
                    let candidates = named[key] ?? []
                    return (
                        "\(columnNamed).\(key)",
                        dictionaries.map { dictionary in
                            candidates.lazy.compactMap { dictionary?[$0] }.first ?? .invalid
                        }
                    )
                }
            case let type:
                throw MLCreateError.type(
                    reason:
                        "the column '\(columnNamed)' holds values of the type \(type); sequences and dictionaries can "
                        + "be unpacked"
                )
            }
            if let valueTypes, valueTypes.count != parts.count {
                throw MLCreateError.generic(
                    reason: "there are \(valueTypes.count) value types for \(parts.count) columns; give the same number"
                )
            }
            let columns = parts.enumerated().map { position, part -> (name: String, column: MLUntypedColumn) in
                let column = MLUntypedColumn(values: part.values)
                return (part.name, valueTypes.map { column.cast(to: $0[position]) } ?? column)
            }
            return try MLDataTable(columns: others([columnNamed]) + columns)
        })
    }

    /// Repeats each row for every element of a sequence, which takes the place of the sequence.
    ///
    /// An empty or missing sequence leaves one row with a missing value.
    /// - Parameters:
    ///   - columnNamed: The name of the column of sequences.
    ///   - to: The new name of the column, which holds elements.
    /// - Returns: An invalid table if the column is missing or holds no sequences.
    public func expand(columnNamed: String, to: String) -> MLDataTable {
        MLDataTable(catching: {
            let column = try column(named: columnNamed)
            guard column.type == .sequence else {
                throw MLCreateError.type(
                    reason: "the column '\(columnNamed)' holds values of the type \(column.type); sequences can be "
                        + "expanded"
                )
            }
            let expanded = try frame().explodingColumn(columnNamed, MLDataValue.SequenceType.self)
            let elements = expanded[columnNamed, MLDataValue.self].map { $0 ?? .invalid } as [MLDataValue]
            return try MLDataTable(
                columns: expanded.columns.map { cells in
                    cells.name == columnNamed
                        ? (to, MLUntypedColumn(values: elements))
                        : (cells.name, MLUntypedColumn(converting: cells))
                }
            )
        })
    }

    /// Merges rows that are equal but for one column, whose values become a sequence at the end.
    ///
    /// Missing values are left out of the sequences.
    /// - Parameters:
    ///   - columnNamed: The name of the column whose values are collected.
    ///   - to: The name of the new column of sequences.
    /// - Returns: An invalid table if there is no such column.
    public func condense(columnNamed: String, to: String) -> MLDataTable {
        MLDataTable(catching: {
            let values = try column(named: columnNamed).values
            let others = try others([columnNamed])
            let groups = KeyGroups(try keys(others.map(\.name))).rows
            let sequences = groups.map { rows in
                MLDataValue.SequenceType(rows.map { values[$0] }.filter(\.isValid))
            }
            return try MLDataTable(
                columns: others.map { ($0.name, $0.column.gathered(groups.map { $0[0] })) }
                    + [(to, MLUntypedColumn(sequences))]
            )
        })
    }

    /// The columns but these.
    private func others(_ names: [String]) throws -> [(name: String, column: MLUntypedColumn)] {
        try self.names.filter { !names.contains($0) }.map { ($0, try column(named: $0)) }
    }
}
