/// The groups of a grouping: the keys and rows of each.
struct GroupedRows {
    /// The keys, with one row per group.
    var keyColumns: [AnyColumn]
    private var contents: Contents

    private enum Contents {
        /// The rows of one frame, by their group codes.
        case partition(Partition)
        /// The rows of any frames with the same columns, group by group.
        case slices([DataFrame.Slice])
    }

    /// The rows of one frame with the code of the group that each belongs to.
    final class Partition {
        let frame: DataFrame
        let selection: RowSelection
        let codes: RowCodes
        private var listed: (rows: [UInt32], offsets: [Int])?

        init(_ frame: DataFrame, _ selection: RowSelection, _ codes: RowCodes) {
            self.frame = frame
            self.selection = selection
            self.codes = codes
        }

        /// Returns the rows, group by group, and where each group begins.
        func lists() -> (rows: [UInt32], offsets: [Int]) {
            if let listed { return listed }
            let created = codes.lists(selection)
            listed = created
            return created
        }

        func slice(_ group: Int) -> DataFrame.Slice {
            let (rows, offsets) = lists()
            return DataFrame.Slice(
                base: frame,
                selection: RowSelection(ascending: rows[offsets[group]..<offsets[group + 1]])
            )
        }
    }

    /// Groups the rows by the elements in the named columns.
    init(_ frame: DataFrame, _ selection: RowSelection, by names: [String]) {
        require(!names.isEmpty, "rows are grouped by at least one column")
        let columns = names.map { frame[$0] }
        let codes = columns.map { column in
            guard let codes = column.erased.codes(selection) else {
                fatalError(
                    "elements of column '\(column.name)' (\(typeName(column.wrappedElementType))) are not Hashable"
                )
            }
            return codes
        }
        let combined = RowCodes(codes, selection)
        keyColumns = columns.map { column in
            AnyColumn(erased: column.erased.gathered(combined.firstRows.span))
        }
        contents = .partition(Partition(frame, selection, combined))
    }

    /// Groups the rows by given keys.
    ///
    /// `keys` has an element for each row of the selection.
    init<Key: Hashable>(_ frame: DataFrame, _ selection: RowSelection, keys: Column<Key>) {
        var codes = RowCodes(keys.storedValues)
        let keyColumn = keys.storage.gathered(codes.firstRows.span)
        codes.firstRows = codes.firstRows.map { UInt32(selection.row(at: Int($0))) }
        keyColumns = [AnyColumn(Column(name: keys.name, storage: keyColumn))]
        contents = .partition(Partition(frame, selection, codes))
    }

    init(keyColumns: [AnyColumn], slices: [DataFrame.Slice]) {
        self.keyColumns = keyColumns
        contents = .slices(slices)
    }

    var count: Int {
        switch contents {
        case .partition(let partition): partition.codes.count
        case .slices(let slices): slices.count
        }
    }

    var partition: Partition? {
        if case .partition(let partition) = contents { partition } else { nil }
    }

    subscript(group: Int) -> DataFrame.Slice {
        require(group >= 0 && group < count, "there is no group \(group) among \(count)")
        switch contents {
        case .partition(let partition): return partition.slice(group)
        case .slices(let slices): return slices[group]
        }
    }

    /// Returns the group with these keys, one for each key column, or nil when there is none.
    func group(_ keys: [Any?]) -> Int? {
        require(keys.count == keyColumns.count, "\(keys.count) keys were given, groups have \(keyColumns.count)")
        // A key given as an optional arrives wrapped twice.
        let requested = keys.map { key -> AnyHashable? in
            guard let key else { return nil }
            let mirror = Mirror(reflecting: key)
            if mirror.displayStyle == .optional { return mirror.children.first?.value as? AnyHashable }
            return key as? AnyHashable
        }
        return (0..<count).first { group in
            zip(keyColumns, requested).allSatisfy { ($0.erased.element(group) as? AnyHashable) == $1 }
        }
    }

    func counts(_ order: Order?) -> DataFrame {
        let counts: [Int] =
            switch contents {
            case .partition(let partition): partition.codes.counts()
            case .slices(let slices): slices.map(\.selection.count)
            }
        return result([AnyColumn(Column(name: freeName("count"), contents: counts))], order)
    }

    private func freeName(_ name: String) -> String {
        keyColumns.contains { $0.name == name } ? freeName(name + "_") : name
    }

    /// Returns the keys followed by `columns`, sorted by the first of these when an order is given.
    func result(_ columns: [AnyColumn], _ order: Order?) -> DataFrame {
        var frame = DataFrame(columns: keyColumns)
        for var column in columns {
            column.name = freeName(column.name)
            frame.append(column: column)
        }
        guard let order, let first = columns.first else { return frame }
        return frame.sorted(on: freeName(first.name), order: order)
    }

    func aggregated<Element, Result>(
        _ names: [String],
        _ naming: (String) -> String,
        _ transform: (DiscontiguousColumnSlice<Element>) throws -> Result?
    ) rethrows -> DataFrame {
        let columns = try names.map { name in
            var results = Column<Result>(name: naming(name), capacity: count)
            if let partition {
                let column = partition.frame[name, Element.self]
                let (rows, offsets) = partition.lists()
                for group in 0..<count {
                    let selection = RowSelection(ascending: rows[offsets[group]..<offsets[group + 1]])
                    results.append(try transform(DiscontiguousColumnSlice(column: column, selection: selection)))
                }
            } else {
                for group in 0..<count { results.append(try transform(self[group][name, Element.self])) }
            }
            return AnyColumn(results)
        }
        return result(columns, nil)
    }

    func mapGroups(_ transform: (DataFrame.Slice) throws -> DataFrame) rethrows -> GroupedRows {
        GroupedRows(
            keyColumns: keyColumns,
            slices: try (0..<count).map { group in
                let frame = try transform(self[group])
                return frame[0..<frame.rowCount]
            }
        )
    }

    func filter(_ isIncluded: (DataFrame.Slice) throws -> Bool) rethrows -> GroupedRows {
        let kept = try (0..<count).filter { try isIncluded(self[$0]) }
        let rows = kept.map { UInt32($0) }
        return GroupedRows(
            keyColumns: keyColumns.map { column in
                AnyColumn(erased: column.erased.gathered(rows.span))
            },
            slices: kept.map { self[$0] }
        )
    }

    /// Splits the rows of each group at random.
    func randomSplit(_ proportion: Double, _ seed: Int?) -> (GroupedRows, GroupedRows) {
        var generator = SplitMix(seed)
        var first: [DataFrame.Slice] = []
        var second: [DataFrame.Slice] = []
        for group in 0..<count {
            let (one, other) = self[group].randomSplit(by: proportion, using: &generator)
            first.append(one)
            second.append(other)
        }
        return (
            GroupedRows(keyColumns: keyColumns, slices: first), GroupedRows(keyColumns: keyColumns, slices: second)
        )
    }

    /// Returns the rows of all groups, group by group, with the keys in front.
    func ungrouped() -> DataFrame {
        let names = Set(keyColumns.map(\.name))
        var owners: [UInt32] = []
        var contents = DataFrame()
        if let partition {
            let (rows, offsets) = partition.lists()
            contents = partition.frame.gathered(rows)
            for group in 0..<count {
                owners.append(contentsOf: repeatElement(UInt32(group), count: offsets[group + 1] - offsets[group]))
            }
        } else {
            for group in 0..<count {
                let slice = self[group]
                if group == 0 { contents = DataFrame(slice) } else { contents.append(slice) }
                owners.append(contentsOf: repeatElement(UInt32(group), count: slice.selection.count))
            }
        }
        var frame = DataFrame(
            columns: keyColumns.map { column in
                AnyColumn(erased: column.erased.gathered(owners.span))
            }
        )
        for column in contents.columns where !names.contains(column.name) { frame.append(column: column) }
        return frame
    }

    /// Returns the keys of a group as text.
    func title(_ group: Int) -> String {
        keyColumns.map { "\($0.name): \($0.erased.element(group).map { "\($0)" } ?? "nil")" }.joined(separator: ", ")
    }

    func description(_ options: FormattingOptions) -> String {
        (0..<count).map { "\(title($0))\n\(self[$0].description(options: options))" }.joined(separator: "\n")
    }
}
