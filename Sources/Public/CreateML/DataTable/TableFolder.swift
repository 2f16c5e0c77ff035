import Foundation
import MLFiles
import MLNumerics
import TabularData

/// Folders that hold a table, which are SFrames.
enum TableFolder {
    /// The columns in the form in which tables hold them.
    /// - Throws: `MLCreateError.io`.
    static func read(_ url: URL, _ options: MLDataTable.ParsingOptions) throws -> DataFrame {
        let frame: DataFrame
        do {
            frame = try DataFrame(
                contentsOfSFrameDirectory: url,
                columns: options.selectColumns,
                maximumRowCount: options.maxRows
            )
        } catch { throw MLCreateError.io(reason: "the folder \(url.path) is not read: \(error)") }
        return DataFrame(columns: try frame.columns.map(cells))
    }

    /// A column of cells, whose type is that of the SFrame's column, whatever its values.
    private static func cells(_ column: AnyColumn) throws -> AnyColumn {
        func converted<T: Cell>(_: T.Type) throws -> AnyColumn {
            var cells = Column<T>(name: column.name, capacity: column.count)
            for (row, element) in column.enumerated() {
                guard let value = MLDataValue(element) else {
                    throw MLCreateError.type(
                        reason: "the column '\(column.name)' has a value in row \(row) that data tables do not hold: "
                            + "\(element ?? "nil"); leave the column out with ParsingOptions.selectColumns"
                    )
                }
                cells.append(T(from: value))
            }
            return cells.eraseToAnyColumn()
        }
        switch column.wrappedElementType {
        case is [Double].Type, is [Any?].Type: return try converted(MLDataValue.SequenceType.self)
        case is [AnyHashable: Any?].Type: return try converted(MLDataValue.DictionaryType.self)
        case is ShapedData<Double>.Type: return try converted(MLDataValue.MultiArrayType.self)
        case is Date.Type:
            throw MLCreateError.type(
                reason: "the column '\(column.name)' has dates, which data tables do not hold; leave it out with "
                    + "ParsingOptions.selectColumns"
            )
        default: return column
        }
    }

    /// Writes columns as an SFrame.
    /// - Throws: `MLCreateError.io`, or a column's error if it is invalid.
    static func write(_ columns: [(name: String, column: MLUntypedColumn)], to url: URL) throws {
        let written = try columns.map { ($0.name, try contents($0.column)) }
        func failure(_ reason: String) -> MLCreateError { .io(reason: "\(url.path) is not written: \(reason)") }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw failure("it is a file; remove it, or name another folder") }
            let others: [String]
            do { others = try SFrameWriter.foreignFiles(in: url) } catch { throw failure("\(error)") }
            guard others.isEmpty else {
                throw failure("the folder holds other things ('\(others[0])'); name another folder")
            }
        }
        do {
            try FileAccess.replaceFolder(url.path) { temporary throws(ModelError) in
                do {
                    try SFrameWriter.write(written, to: URL(fileURLWithPath: temporary, isDirectory: true))
                } catch { throw ModelError(.io, "\(error)", at: url.path) }
            }
        } catch { throw failure("\(error)") }
    }

    private static func contents(_ column: MLUntypedColumn) throws -> SFrameContents {
        let cells = try column.cells()
        switch column.type {
        case .int: return .integers(cells.assumingType(Int.self))
        case .double: return .floats(cells.assumingType(Double.self))
        case .string: return .strings(cells.assumingType(String.self))
        // Turi Create has no type without values; it takes missing values for floats.
        case .invalid: return .floats(Column(name: "", contents: [Double?](repeating: nil, count: column.count)))
        case .sequence:
            let values = column.values
            return vectors(values).map { .values(.vector, $0) } ?? .values(.list, values.map(SFrameValue.init))
        case .dictionary: return .values(.dictionary, column.values.map(SFrameValue.init))
        case .multiArray: return .values(.array, column.values.map(SFrameValue.init))
        }
    }

    /// Sequences that hold floating-point numbers only; `nil` for others, and if there is no number at all.
    private static func vectors(_ values: [MLDataValue]) -> [SFrameValue]? {
        var hasFloats = false
        var vectors: [SFrameValue] = []
        vectors.reserveCapacity(values.count)
        for value in values {
            guard let sequence = value.sequenceValue else {
                vectors.append(.undefined)
                continue
            }
            let floats = sequence.compactMap(\.doubleValue)
            guard floats.count == sequence.count else { return nil }
            if !floats.isEmpty { hasFloats = true }
            vectors.append(.vector(floats))
        }
        return hasFloats ? vectors : nil
    }
}

extension SFrameValue {
    fileprivate init(_ value: MLDataValue) {
        switch value {
        case .int(let number): self = .integer(number)
        case .double(let number): self = .float(number)
        case .string(let text): self = .string(text)
        case .sequence(let values): self = .list(values.map(SFrameValue.init))
        case .dictionary(let entries):
            self = .dictionary(entries.inOrder.map { (SFrameValue($0.key), SFrameValue($0.value)) })
        case .multiArray(let array):
            self = .array(ShapedData(shape: array.shape, strides: Self.strides(array.shape), contents: array.values))
        case .invalid: self = .undefined
        }
    }

    /// Row by row.
    private static func strides(_ shape: [Int]) -> [Int] {
        var strides = [Int](repeating: 1, count: shape.count)
        for axis in shape.indices.dropLast().reversed() { strides[axis] = strides[axis + 1] * shape[axis + 1] }
        return strides
    }
}
