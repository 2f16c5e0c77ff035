import MLFeatures
import MLNumerics
import MLTrainingCore
import MLTreeTraining

/// One feature of all rows, encoded as its `FeatureLayout` says.
enum EncodedFeature: Sendable {
    /// NaN where a value is missing.
    case numbers(NumberColumn)
    /// -1 for none.
    case categories([Int32], count: Int)
    case sparse(Sparse)
    /// [rows × width]; NaN where values are missing.
    case dense([Double], width: Int)

    /// The entries `starts[row]..<starts[row + 1]` of each row, their columns ascending.
    struct Sparse: Sendable {
        var starts: [Int] = [0]
        var columns: [Int32] = []
        var values: [Double] = []
        var width: Int

        init(starts: [Int], columns: [Int32], values: [Double], width: Int) {
            self.starts = starts
            self.columns = columns
            self.values = values
            self.width = width
        }

        init<Key: Hashable>(_ rows: [[Key: Double]?], _ positions: [Key: Int32]) {
            width = positions.count
            starts.reserveCapacity(rows.count + 1)
            var entries: [(Int32, Double)] = []
            for row in rows {
                entries.removeAll(keepingCapacity: true)
                for (key, value) in row ?? [:] {
                    if let position = positions[key] { entries.append((position, value)) }
                }
                entries.sort { $0.0 < $1.0 }
                for (position, value) in entries {
                    columns.append(position)
                    values.append(value)
                }
                starts.append(columns.count)
            }
        }
    }

    var width: Int {
        switch self {
        case .numbers: 1
        case .categories(_, let count): count
        case .sparse(let sparse): sparse.width
        case .dense(_, let width): width
        }
    }

    func rows(_ rows: [Int]) -> EncodedFeature {
        switch self {
        case .numbers(let values): return .numbers(values.rows(rows))
        case .categories(let values, let count): return .categories(rows.map { values[$0] }, count: count)
        case .dense(let values, let width):
            return .dense(rows.flatMap { values[$0 * width..<($0 + 1) * width] }, width: width)
        case .sparse(let sparse):
            var result = Sparse(starts: [0], columns: [], values: [], width: sparse.width)
            for row in rows {
                let range = sparse.starts[row]..<sparse.starts[row + 1]
                result.columns += sparse.columns[range]
                result.values += sparse.values[range]
                result.starts.append(result.columns.count)
            }
            return .sparse(result)
        }
    }
}

/// Rows encoded for training.
struct EncodedTable: Sendable {
    var rowCount: Int
    var features: [EncodedFeature]

    var width: Int { features.reduce(0) { $0 + $1.width } }

    func rows(_ rows: [Int]) -> EncodedTable {
        EncodedTable(rowCount: rows.count, features: features.map { $0.rows(rows) })
    }

    /// The rows in memory of their own.
    var owned: EncodedTable {
        var result = self
        for (index, feature) in features.enumerated() {
            if case .numbers(let values) = feature { result.features[index] = .numbers(values.owned) }
        }
        return result
    }

    /// The maximum memory of the table that trees are trained on, 16 GiB.
    private static let maximumByteCount = 16 << 30

    /// The rows for trees: single precision, by column.
    func treeTable(_ layout: FeatureLayout) throws -> TreeTrainingTable {
        let (bytes, overflows) = (rowCount * 4).multipliedReportingOverflow(by: width)
        guard !overflows, bytes <= Self.maximumByteCount else {
            let widest = layout.features.max { $0.kind.width < $1.kind.width }
            throw MLCreateError.generic(
                reason:
                    "the features of \(rowCount) rows are \(width) columns of numbers, which is too much for trees; "
                    + "leave out '\(widest?.name ?? "")', which alone has \(widest?.kind.width ?? 0)"
            )
        }
        var columns: [[Float]] = []
        columns.reserveCapacity(width)
        for feature in features {
            switch feature {
            case .numbers(let values): columns.append(values.singles)
            case .categories(let values, let count):
                let first = columns.count
                for _ in 0..<count { columns.append([Float](repeating: 0, count: rowCount)) }
                for (row, position) in values.enumerated() where position >= 0 {
                    columns[first + Int(position)][row] = 1
                }
            case .sparse(let sparse):
                let first = columns.count
                for _ in 0..<sparse.width { columns.append([Float](repeating: 0, count: rowCount)) }
                for row in 0..<rowCount {
                    for entry in sparse.starts[row]..<sparse.starts[row + 1] {
                        columns[first + Int(sparse.columns[entry])][row] = Float(sparse.values[entry])
                    }
                }
            case .dense(let values, let width):
                for column in 0..<width {
                    columns.append((0..<rowCount).map { Float(values[$0 * width + column]) })
                }
            }
        }
        return try MLCreateError.translating { try TreeTrainingTable(columns: columns) }
    }

    /// Whether a number is missing.
    var hasMissing: Bool {
        features.contains { feature in
            switch feature {
            case .numbers(let values): values.first(where: \.isNaN) != nil
            case .dense(let values, _): values.contains(where: \.isNaN)
            case .categories, .sparse: false
            }
        }
    }

    /// The rows as inputs of the model that was made with the layout.
    func batch(_ layout: FeatureLayout) -> FeatureBatch {
        var columns: [String: FeatureColumn] = [:]
        for (feature, encoded) in zip(layout.features, features) {
            switch (feature.kind, encoded) {
            case (.categories(let list), .categories(let positions, _)):
                let none = Self.unknown(list)
                columns[feature.name] = .strings(positions.map { $0 < 0 ? none : list[Int($0)] })
            case (.keys(let list), .sparse(let sparse)):
                columns[feature.name] = .values(
                    (0..<rowCount).map { row in
                        let range = sparse.starts[row]..<sparse.starts[row + 1]
                        return .dictionary(
                            .strings(range.reduce(into: [:]) { $0[list[Int(sparse.columns[$1])]] = sparse.values[$1] })
                        )
                    }
                )
            case (.integerKeys(let list), .sparse(let sparse)):
                columns[feature.name] = .values(
                    (0..<rowCount).map { row in
                        let range = sparse.starts[row]..<sparse.starts[row + 1]
                        return .dictionary(
                            .integers(range.reduce(into: [:]) { $0[list[Int(sparse.columns[$1])]] = sparse.values[$1] })
                        )
                    }
                )
            case (.array(let shape), .dense(let values, _)):
                columns[feature.name] = .arrays(Tensor(values: values, scalarType: .float64, shape: [rowCount] + shape))
            case (_, .numbers(let values)): columns[feature.name] = .doubles(values.array)
            default: preconditionFailure("the table was not made with the layout")
            }
        }
        return FeatureBatch(count: rowCount, columns: columns)
    }

    /// A text that is not among the categories.
    static func unknown(_ categories: [String]) -> String {
        var text = "\u{FFFD}"
        while categories.contains(text) { text += "\u{FFFD}" }
        return text
    }
}

extension EncodedTable {
    func encode(to writer: inout CheckpointWriter) {
        writer.write(UInt64(rowCount))
        for feature in features {
            switch feature {
            case .numbers(let values): writer.write(values.array)
            case .categories(let values, _): writer.write(values)
            case .dense(let values, _): writer.write(values)
            case .sparse(let sparse):
                writer.write(sparse.starts)
                writer.write(sparse.columns)
                writer.write(sparse.values)
            }
        }
    }

    init(from reader: inout CheckpointReader, _ layout: FeatureLayout) throws {
        let rows = try reader.readInt(in: 0...Int(Int32.max), "the number of rows")
        rowCount = rows
        features = try layout.features.map { feature in
            let width = feature.kind.width
            switch feature.kind {
            case .number:
                let values: [Double] = try reader.readArray()
                guard values.count == rows, !values.contains(where: \.isInfinite) else {
                    throw reader.damaged("numbers")
                }
                return .numbers(NumberColumn(values))
            case .categories:
                let values: [Int32] = try reader.readArray()
                guard values.count == rows, values.allSatisfy({ $0 >= -1 && Int($0) < width }) else {
                    throw reader.damaged("categories")
                }
                return .categories(values, count: width)
            case .array:
                let values: [Double] = try reader.readArray()
                guard values.count == rows * width, !values.contains(where: \.isInfinite) else {
                    throw reader.damaged("an array")
                }
                return .dense(values, width: width)
            case .keys, .integerKeys:
                let starts: [Int] = try reader.readArray()
                let columns: [Int32] = try reader.readArray()
                let values: [Double] = try reader.readArray()
                guard starts.count == rows + 1, starts.first == 0, starts.last == columns.count,
                    zip(starts, starts.dropFirst()).allSatisfy({ $0 <= $1 }), columns.count == values.count,
                    columns.allSatisfy({ $0 >= 0 && Int($0) < width }), values.allSatisfy(\.isFinite)
                else { throw reader.damaged("a sparse column") }
                return .sparse(EncodedFeature.Sparse(starts: starts, columns: columns, values: values, width: width))
            }
        }
    }
}
