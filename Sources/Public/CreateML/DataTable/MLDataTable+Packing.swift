import TabularData

extension MLDataTable {
    /// Puts a column of sequences or dictionaries in the place of some columns, at the end.
    /// - Parameters:
    ///   - type: sequences in the order of the columns, or dictionaries with the columns' names for keys.
    ///   - filling: what stands for missing values; when it is `.invalid`, dictionaries leave them out.
    public func pack(
        columnsNamed: String...,
        to: String,
        type: PackType = .sequence,
        filling: MLDataValue = MLDataValue.invalid
    ) -> MLDataTable {
        MLDataTable(catching: {
            guard !columnsNamed.isEmpty else {
                throw MLCreateError.generic(reason: "one column at least is packed; name it")
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

    /// Puts a column for each element in the place of a column of sequences or dictionaries, at the end.
    ///
    /// The columns are named by the column and the element's number or key, such as `size.0` or `size.width`; keys are in
    /// ascending order.  Where a row has no such element the value is missing.
    /// - Parameters:
    ///   - valueTypes: the types of the new columns, as many as there are.
    ///   - indexSubset: the elements of sequences to take; all when `nil`.
    ///   - keySubset: the keys of dictionaries to take; all when `nil`.
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
                    reason: "there are \(valueTypes.count) value types for \(parts.count) columns; give as many"
                )
            }
            let columns = parts.enumerated().map { place, part -> (name: String, column: MLUntypedColumn) in
                let column = MLUntypedColumn(values: part.values)
                return (part.name, valueTypes.map { column.cast(to: $0[place]) } ?? column)
            }
            return try MLDataTable(columns: others([columnNamed]) + columns)
        })
    }

    /// A row for each element of a column of sequences, in the column's place; where there is none, a row without.
    /// - Parameter to: the name of the new column.
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

    /// A row for all rows that are equal but for a column, whose values become a sequence, at the end.
    /// - Parameter to: the name of the new column.
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
