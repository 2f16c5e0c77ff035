extension DataFrameProtocol {
    /// Pairs of rows whose elements in the common column are equal.
    ///
    /// The common column keeps its name.  Other columns are named `left.` or `right.` and their name, which stays as an
    /// alias.  A missing element is equal to none.  Rows are in the order of this frame, in right joins in that of the
    /// other; full joins end with the other's rows that found no partner.
    public func joined<R: DataFrameProtocol>(
        _ other: R,
        on columnName: String,
        kind: JoinKind = .inner
    ) -> DataFrame {
        joined(other, on: (columnName, columnName), kind: kind)
    }

    /// Pairs of rows whose elements in a column of each frame are equal.
    public func joined<R: DataFrameProtocol>(
        _ other: R,
        on columnNames: (left: String, right: String),
        kind: JoinKind = .inner
    ) -> DataFrame {
        let left = base[columnNames.left]
        let right = other.base[columnNames.right]
        guard let type = left.wrappedElementType as? any Hashable.Type else {
            preconditionFailure(
                "elements of column '\(left.name)' (\(typeName(left.wrappedElementType))) are not Hashable"
            )
        }
        func join<T: Hashable>(_: T.Type) -> DataFrame {
            Join(left.assumingType(T.self), selection, right.assumingType(T.self), other.selection, kind)
                .frame(base, left.name, other.base, right.name)
        }
        return join(type)
    }

    public func joined<R: DataFrameProtocol, T: Hashable>(
        _ other: R,
        on columnID: ColumnID<T>,
        kind: JoinKind = .inner
    ) -> DataFrame {
        joined(other, on: (columnID, columnID), kind: kind)
    }

    public func joined<R: DataFrameProtocol, T: Hashable>(
        _ other: R,
        on columnIDs: (left: ColumnID<T>, right: ColumnID<T>),
        kind: JoinKind = .inner
    ) -> DataFrame {
        Join(base[columnIDs.left], selection, other.base[columnIDs.right], other.selection, kind)
            .frame(base, base[columnIDs.left.name].name, other.base, other.base[columnIDs.right.name].name)
    }
}

/// The rows of two frames that belong together; `missingRow` where there is no partner.
private struct Join {
    var leftRows: [UInt32] = []
    var rightRows: [UInt32] = []

    init<T: Hashable>(
        _ left: Column<T>,
        _ leftSelection: RowSelection,
        _ right: Column<T>,
        _ rightSelection: RowSelection,
        _ kind: JoinKind
    ) {
        if kind == .right {
            let turned = Join(right, rightSelection, left, leftSelection, .left)
            (leftRows, rightRows) = (turned.rightRows, turned.leftRows)
            return
        }
        let leftValues = _ColumnValues(storage: left.storage, selection: leftSelection)
        let rightValues = _ColumnValues(storage: right.storage, selection: rightSelection)
        var encoder = ElementEncoder(rightValues)
        if !encoder.fits(leftValues) { encoder.useEquality() }
        let codes = RowCodes(codes: encoder.encode(rightValues), firstRows: encoder.firstRows)
        let found = encoder.find(leftValues, among: rightValues)
        let keepsLeft = kind != .inner
        leftRows.reserveCapacity(found.count)
        rightRows.reserveCapacity(found.count)
        if codes.count == rightSelection.count {
            for (code, row) in zip(found, leftSelection) {
                if code != missingRow {
                    leftRows.append(UInt32(row))
                    rightRows.append(codes.firstRows[Int(code)])
                } else if keepsLeft {
                    leftRows.append(UInt32(row))
                    rightRows.append(missingRow)
                }
            }
        } else {
            let (rows, offsets) = codes.lists(rightSelection)
            for (code, row) in zip(found, leftSelection) {
                if code != missingRow {
                    for place in offsets[Int(code)]..<offsets[Int(code) + 1] {
                        leftRows.append(UInt32(row))
                        rightRows.append(rows[place])
                    }
                } else if keepsLeft {
                    leftRows.append(UInt32(row))
                    rightRows.append(missingRow)
                }
            }
        }
        if kind == .full {
            var isUsed = [Bool](repeating: false, count: codes.count)
            for code in found where code != missingRow { isUsed[Int(code)] = true }
            for (code, row) in zip(codes.codes, rightSelection) where !isUsed[Int(code)] {
                leftRows.append(missingRow)
                rightRows.append(UInt32(row))
            }
        }
        precondition(leftRows.count <= RowSelection.mostRows, "a frame holds at most \(RowSelection.mostRows) rows")
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
                result = gathered(part.column, part.isLeft ? leftRows : rightRows)
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

    private func gathered(_ column: AnyColumn, _ rows: [UInt32]) -> AnyColumn {
        // All rows in their order: nothing needs copying.
        if rows.count == column.count, rows.indices.allSatisfy({ rows[$0] == UInt32($0) }) { return column }
        return rows.withUnsafeBufferPointer { AnyColumn(erased: column.erased.gathered($0)) }
    }

    /// The common column: of whichever side has the row.
    private func keys(_ left: AnyColumn, _ right: AnyColumn) -> AnyColumn {
        var result = gathered(left, leftRows)
        guard leftRows.contains(missingRow) else { return result }
        for (place, row) in leftRows.enumerated() where row == missingRow {
            result[place] = right.erased.element(Int(rightRows[place]))
        }
        return result
    }
}
