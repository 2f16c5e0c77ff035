extension DataFrameProtocol {
    /// Joins the rows with those of another frame that have equal elements in a column of the same name.
    ///
    /// The common column keeps its name. Other columns are named `left.` or `right.` followed by their name, which
    /// stays as an alias. A missing element has no partner. Rows are in the order of this frame, in right joins in that
    /// of the other; full joins end with the other's rows that found no partner.
    ///
    /// - Parameters:
    ///   - other: The right frame, or some of its rows.
    ///   - columnName: A column of both frames, of the same `Hashable` type in both.
    ///   - kind: The rows without a partner that are kept; none (`.inner`) by default.
    /// - Returns: A frame with one row per pair of rows, and per row without a partner that is kept.
    public func joined<R: DataFrameProtocol>(
        _ other: R,
        on columnName: String,
        kind: JoinKind = .inner
    ) -> DataFrame {
        joined(other, on: (columnName, columnName), kind: kind)
    }

    /// Joins the rows with those of another frame that have equal elements in one column of each.
    ///
    /// The common column has the name of the left one. Everything else is as for a join on a column of one name.
    ///
    /// - Parameters:
    ///   - other: The right frame, or some of its rows.
    ///   - columnNames: The columns to compare, which must be of the same `Hashable` type.
    ///   - kind: The rows without a partner that are kept; none (`.inner`) by default.
    /// - Returns: A frame with one row per pair of rows, and per row without a partner that is kept.
    public func joined<R: DataFrameProtocol>(
        _ other: R,
        on columnNames: (left: String, right: String),
        kind: JoinKind = .inner
    ) -> DataFrame {
        let left = base[columnNames.left]
        let right = other.base[columnNames.right]
        guard let type = left.wrappedElementType as? any Hashable.Type else {
            fatalError(
                "elements of column '\(left.name)' (\(typeName(left.wrappedElementType))) are not Hashable"
            )
        }
        func join<T: Hashable>(_: T.Type) -> DataFrame {
            Join(left.assumingType(T.self), selection, right.assumingType(T.self), other.selection, kind)
                .frame(base, left.name, other.base, right.name)
        }
        return join(type)
    }

    /// Joins the rows with those of another frame that have equal elements in the column `columnID`.
    public func joined<R: DataFrameProtocol, T: Hashable>(
        _ other: R,
        on columnID: ColumnID<T>,
        kind: JoinKind = .inner
    ) -> DataFrame {
        joined(other, on: (columnID, columnID), kind: kind)
    }

    /// Joins the rows with those of another frame that have equal elements in one typed column of each.
    public func joined<R: DataFrameProtocol, T: Hashable>(
        _ other: R,
        on columnIDs: (left: ColumnID<T>, right: ColumnID<T>),
        kind: JoinKind = .inner
    ) -> DataFrame {
        Join(base[columnIDs.left], selection, other.base[columnIDs.right], other.selection, kind)
            .frame(base, base[columnIDs.left.name].name, other.base, other.base[columnIDs.right.name].name)
    }
}

/// The rows of one frame that go into a join, in their new order.
private enum JoinedRows {
    /// All rows in their order, so that nothing needs copying.
    case all(Int)
    /// Row numbers, `missingRow` where there is no partner.
    case listed(PlainBuffer<UInt32>)

    init(_ selection: RowSelection, of column: Int) {
        if selection == .range(0..<column) {
            self = .all(column)
        } else {
            let list = PlainBuffer<UInt32>(count: selection.count)
            selection.forEachPlace { position, row in list.values[position] = UInt32(truncatingIfNeeded: row) }
            self = .listed(list)
        }
    }

    var count: Int {
        switch self {
        case .all(let count): count
        case .listed(let list): list.count
        }
    }

    var list: PlainBuffer<UInt32> {
        switch self {
        case .listed(let list): return list
        case .all(let count):
            let list = PlainBuffer<UInt32>(count: count)
            for row in 0..<count { list.values[row] = UInt32(truncatingIfNeeded: row) }
            return list
        }
    }

    func gathered(_ column: AnyColumn) -> AnyColumn {
        guard case .listed(let list) = self else { return column }
        defer { withExtendedLifetime(list) {} }
        return AnyColumn(erased: column.erased.gathered(list.elements.span))
    }
}

/// The pairs of rows of two frames that a join combines.
private struct Join {
    var leftRows: JoinedRows
    var rightRows: JoinedRows

    init<T: Hashable>(
        _ left: Column<T>,
        _ leftSelection: RowSelection,
        _ right: Column<T>,
        _ rightSelection: RowSelection,
        _ kind: JoinKind
    ) {
        if kind == .right {
            let rotated = Join(right, rightSelection, left, leftSelection, .left)
            (leftRows, rightRows) = (rotated.rightRows, rotated.leftRows)
            return
        }
        let leftValues = StoredValues(storage: left.storage, selection: leftSelection)
        let rightValues = StoredValues(storage: right.storage, selection: rightSelection)
        var encoder = ElementEncoder(rightValues)
        if !encoder.fits(leftValues) { encoder.useEquality() }
        let codes = RowCodes(codes: encoder.encode(rightValues), firstRows: encoder.firstRows)
        let found = PlainBuffer<UInt32>(count: leftSelection.count)
        let alone = encoder.find(leftValues, among: rightValues, into: found.values)
        let unused = kind == .full ? Self.unused(found, codes, rightSelection) : []
        if codes.count == rightSelection.count, kind != .inner || alone == 0 {
            // A row has one partner at most, and codes number those.
            leftRows = JoinedRows(leftSelection, of: left.count)
            if rightSelection != .range(0..<codes.count) {
                found.replaceEach { $0 == missingRow ? missingRow : codes.firstRows[Int($0)] }
            }
            rightRows = .listed(found)
        } else {
            (leftRows, rightRows) = Self.pairs(found, alone, leftSelection, codes, rightSelection, kind)
        }
        if !unused.isEmpty {
            let (left, right) = (leftRows.list, rightRows.list)
            for row in unused {
                left.append(missingRow)
                right.append(row)
            }
            (leftRows, rightRows) = (.listed(left), .listed(right))
        }
        require(rightRows.count <= RowSelection.maximumRowCount, Self.tooMany)
    }

    private static var tooMany: String { "a frame holds at most \(RowSelection.maximumRowCount) rows" }

    /// Returns all pairs of rows with a common code, in the order of `leftRows`.
    ///
    /// `found` holds the codes of `leftRows`; the rows of `alone` have none.
    private static func pairs(
        _ found: PlainBuffer<UInt32>,
        _ alone: Int,
        _ leftRows: RowSelection,
        _ codes: RowCodes,
        _ rightRows: RowSelection,
        _ kind: JoinKind
    ) -> (JoinedRows, JoinedRows) {
        let (partners, offsets) = codes.lists(rightRows)
        var count = kind == .inner ? 0 : alone
        for code in found.elements where code != missingRow { count += offsets[Int(code) + 1] - offsets[Int(code)] }
        require(count <= RowSelection.maximumRowCount, tooMany)
        let (left, right) = (PlainBuffer<UInt32>(count: count), PlainBuffer<UInt32>(count: count))
        var position = 0
        func append(_ leftRow: UInt32, _ rightRow: UInt32) {
            left.values[position] = leftRow
            right.values[position] = rightRow
            position &+= 1
        }
        leftRows.forEachPlace { leftPlace, row in
            let row = UInt32(truncatingIfNeeded: row)
            let code = found.values[leftPlace]
            if code != missingRow {
                for partner in offsets[Int(code)]..<offsets[Int(code) + 1] { append(row, partners[partner]) }
            } else if kind != .inner {
                append(row, missingRow)
            }
        }
        withExtendedLifetime((found, left, right)) {}
        return (.listed(left), .listed(right))
    }

    /// Returns the rows of `selection`, with codes `codes`, that have no partner.
    private static func unused(
        _ found: PlainBuffer<UInt32>,
        _ codes: RowCodes,
        _ selection: RowSelection
    ) -> [UInt32] {
        var isUsed = [Bool](repeating: false, count: codes.count)
        for code in found.elements where code != missingRow { isUsed[Int(code)] = true }
        withExtendedLifetime(found) {}
        return zip(codes.codes, selection).compactMap { isUsed[Int($0)] ? nil : UInt32($1) }
    }

    func frame(_ left: DataFrame, _ leftName: String, _ right: DataFrame, _ rightName: String) -> DataFrame {
        struct Part {
            let column: AnyColumn
            let isLeft: Bool
            let name: String
            let alias: String?
        }
        var parts = left.columns.map { column in
            column.name == leftName
                ? Part(column: column, isLeft: true, name: leftName, alias: nil)
                : Part(column: column, isLeft: true, name: "left." + column.name, alias: column.name)
        }
        for column in right.columns where column.name != rightName {
            parts.append(Part(column: column, isLeft: false, name: "right." + column.name, alias: column.name))
        }
        let columns = Parallel.map(parts) { part -> AnyColumn in
            var result: AnyColumn
            if part.alias == nil {
                result = keys(part.column, right[rightName])
            } else {
                result = (part.isLeft ? leftRows : rightRows).gathered(part.column)
            }
            result.name = part.name
            return result
        }
        var taken: Set<String> = [leftName]
        var frame = DataFrame()
        for (part, var column) in zip(parts, columns) {
            // A column may have been named `left.x` or `right.x` before.
            while part.alias != nil, !taken.insert(column.name).inserted { column.name += "_" }
            frame.append(column: column)
            if let alias = part.alias, alias != leftName { frame.addAlias(alias, forColumn: column.name) }
        }
        return frame
    }

    /// Returns the common column, from whichever side has the row.
    private func keys(_ left: AnyColumn, _ right: AnyColumn) -> AnyColumn {
        var result = leftRows.gathered(left)
        guard case .listed(let rows) = leftRows else { return result }
        let others = rightRows.list
        for (position, row) in rows.elements.enumerated() where row == missingRow {
            result[position] = right.erased.element(Int(others.values[position]))
        }
        withExtendedLifetime((rows, others)) {}
        return result
    }
}
