extension DataFrame {
    /// Returns a row of statistics for each column, in the columns of `SummaryColumnIDs`.
    ///
    /// Mean, standard deviation, extremes and quartiles are missing for columns that are not numbers and columns
    /// without elements.
    public func summary() -> DataFrame { summary(nil, .range(0..<rowCount)) }

    /// Returns a row of statistics for each of the named columns, in the columns of `SummaryColumnIDs`.
    public func summary(of columnNames: String...) -> DataFrame {
        summary(columnNames.map(index), .range(0..<rowCount))
    }

    /// Returns a row of statistics for each of the columns at these positions, in the columns of `SummaryColumnIDs`.
    public func summary(ofColumns columnIndices: Int...) -> DataFrame { summary(columnIndices, .range(0..<rowCount)) }

    /// Returns a summary of the columns at `indices`, or of all when it is nil.
    func summary(_ indices: [Int]?, _ rows: RowSelection) -> DataFrame {
        let chosen = indices.map { $0.map { stored[$0] } } ?? stored
        let summaries = Parallel.map(chosen) { ($0.numericSummary(rows), AnyCategoricalSummary($0, rows)) }
        func figures(_ id: ColumnID<Double>, _ figure: (NumericSummary<Double>) -> Double) -> AnyColumn {
            AnyColumn(
                Column<Double>(
                    name: id.name,
                    contents: summaries.map { $0.0.flatMap { $0.someCount == 0 ? nil : figure($0) } }
                )
            )
        }
        return DataFrame(columns: [
            AnyColumn(Column(SummaryColumnIDs.columnName, contents: chosen.map(\.name))),
            figures(SummaryColumnIDs.mean, \.mean),
            figures(SummaryColumnIDs.standardDeviation, \.standardDeviation),
            figures(SummaryColumnIDs.minimum, \.min),
            figures(SummaryColumnIDs.maximum, \.max),
            figures(SummaryColumnIDs.median, \.median),
            figures(SummaryColumnIDs.firstQuartile, \.firstQuartile),
            figures(SummaryColumnIDs.thirdQuartile, \.thirdQuartile),
            AnyColumn(Column<[Any]>(name: SummaryColumnIDs.mode.name, contents: summaries.map(\.1.mode))),
            AnyColumn(Column(SummaryColumnIDs.uniqueCount, contents: summaries.map(\.1.uniqueCount))),
            AnyColumn(Column(SummaryColumnIDs.noneCount, contents: summaries.map(\.1.noneCount))),
            AnyColumn(Column(SummaryColumnIDs.someCount, contents: summaries.map(\.1.someCount))),
        ])
    }
}

extension DataFrame.Slice {
    /// Returns a row of statistics for each column, in the columns of `SummaryColumnIDs`.
    ///
    /// Mean, standard deviation, extremes and quartiles are missing for columns that are not numbers and columns
    /// without elements.
    public func summary() -> DataFrame { base.summary(nil, selection) }

    /// Returns a row of statistics for each of the named columns, in the columns of `SummaryColumnIDs`.
    public func summary(of columnNames: String...) -> DataFrame {
        base.summary(columnNames.map(base.index), selection)
    }

    /// Returns a row of statistics for each of the columns at these positions, in the columns of `SummaryColumnIDs`.
    public func summary(ofColumns columnIndices: Int...) -> DataFrame { base.summary(columnIndices, selection) }
}

extension AnyColumn {
    /// Returns the statistics of the rows, or nil when elements are not numbers.
    func numericSummary(_ rows: RowSelection) -> NumericSummary<Double>? {
        func values<T>(_ type: T.Type) -> StoredValues<T> {
            StoredValues(storage: typed(type).column.storage, selection: rows)
        }
        func integers<I: BinaryInteger>(_ type: I.Type) -> NumericSummary<Double> { values(type).numericSummary() }
        func fractions<F: BinaryFloatingPoint>(_ type: F.Type) -> NumericSummary<Double> {
            var numbers: [Double] = []
            values(type).forEachPresent { numbers.append(Double($1)) }
            return NumericSummary(&numbers, missing: rows.count - numbers.count)
        }
        switch wrappedElementType {
        case is Double.Type: return values(Double.self).numericSummary()
        case is Int.Type: return values(Int.self).numericSummary()
        case let type as any BinaryInteger.Type: return integers(type)
        case let type as any BinaryFloatingPoint.Type: return fractions(type)
        default: return nil
        }
    }
}
