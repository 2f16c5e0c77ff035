import MLFeatures
import MLSpecification
import MLTrainingCore
import TabularData

/// The mapping of columns to one vector of numbers, learned from the training data and written into the model.
struct FeatureLayout: Hashable, Sendable {
    struct Feature: Hashable, Sendable {
        var name: String
        var kind: Kind
    }

    enum Kind: Hashable, Sendable {
        case number
        /// A column for each category, ascending; an unknown or missing text has none.
        case categories([String])
        /// A column for each key, ascending; 0 for a key that a dictionary lacks.
        case keys([String])
        case integerKeys([Int64])
        /// The elements of an array in row-major order.
        case array(shape: [Int])

        var width: Int {
            switch self {
            case .number: 1
            case .categories(let list): list.count
            case .keys(let list): list.count
            case .integerKeys(let list): list.count
            case .array(let shape): shape.reduce(1, *)
            }
        }

        /// The elements that the column must hold, for messages.
        var content: String {
            switch self {
            case .number: "numbers"
            case .categories: "strings"
            case .keys: "dictionaries with String keys"
            case .integerKeys: "dictionaries with Int keys"
            case .array(let shape): "arrays of the shape \(shape)"
            }
        }
    }

    var features: [Feature]

    init(features: [Feature]) { self.features = features }

    var width: Int { features.reduce(0) { $0 + $1.kind.width } }

    /// Learns the layout of columns.
    /// - Throws: `.generic` for a column without any value.
    init(learning columns: [(name: String, content: ColumnContent)]) throws {
        features = try columns.map { name, content in
            func empty() -> MLCreateError {
                .generic(reason: "the column '\(name)' has no values to train on; leave it out of featureColumns")
            }
            switch content {
            case .numbers(let values):
                guard values.hasValues else { throw empty() }
                return Feature(name: name, kind: .number)
            case .texts(let values):
                var seen: Set<String> = []
                for case let text? in values { seen.insert(text) }
                guard !seen.isEmpty else { throw empty() }
                return Feature(name: name, kind: .categories(seen.sorted()))
            case .dictionaries(let values):
                var seen: Set<String> = []
                for case let value? in values { seen.formUnion(value.keys) }
                guard !seen.isEmpty else { throw empty() }
                return Feature(name: name, kind: .keys(seen.sorted()))
            case .integerDictionaries(let values):
                var seen: Set<Int64> = []
                for case let value? in values { seen.formUnion(value.keys) }
                guard !seen.isEmpty else { throw empty() }
                return Feature(name: name, kind: .integerKeys(seen.sorted()))
            case .arrays(let values):
                guard let first = values.lazy.compactMap({ $0 }).first, !first.values.isEmpty else { throw empty() }
                return Feature(name: name, kind: .array(shape: first.shape))
            }
        }
    }

    /// The columns of a frame by the layout's names.
    /// - Throws: `MLCreateError.generic` for a column that is missing, `.type` for one of another type.
    func contents(of frame: DataFrame) throws -> [ColumnContent] {
        try features.map { feature in try ColumnContent(frame.column(named: feature.name, for: "feature")) }
    }

    func encode(_ frame: DataFrame) throws -> EncodedTable {
        EncodedTable(rowCount: frame.shape.rows, features: try encode(try contents(of: frame)))
    }

    func encode(_ contents: [ColumnContent]) throws -> [EncodedFeature] {
        try zip(features, contents).map { feature, content in
            switch (feature.kind, content) {
            case (.number, .numbers(let values)): return .numbers(values)
            // A column without any value has no type of its own.
            case (.number, .texts(let values)) where values.allSatisfy({ $0 == nil }):
                return .numbers(NumberColumn([Double](repeating: .nan, count: values.count)))
            case (.categories(let list), .texts(let values)):
                let positions = Self.positions(list)
                return .categories(values.map { $0.flatMap { positions[$0] } ?? -1 }, count: list.count)
            case (.keys(let list), .dictionaries(let values)):
                return .sparse(EncodedFeature.Sparse(values, Self.positions(list)))
            case (.integerKeys(let list), .integerDictionaries(let values)):
                return .sparse(EncodedFeature.Sparse(values, Self.positions(list)))
            case (.array(let shape), .arrays(let values)):
                let width = feature.kind.width
                var result: [Double] = []
                result.reserveCapacity(values.count * width)
                for (row, value) in values.enumerated() {
                    if let value, value.shape != shape {
                        throw MLCreateError.type(
                            reason: "the column '\(feature.name)' holds an array of the shape \(value.shape) in row "
                                + "\(row); all must have the shape \(shape)"
                        )
                    }
                    if let value {
                        result += value.values
                    } else {
                        result += repeatElement(.nan, count: width)
                    }
                }
                return .dense(result, width: width)
            default:
                throw MLCreateError.type(
                    reason: "the column '\(feature.name)' holds \(content.kind); the model was trained on "
                        + feature.kind.content
                )
            }
        }
    }

    private static func positions<Key: Hashable>(_ list: [Key]) -> [Key: Int32] {
        var result: [Key: Int32] = [:]
        result.reserveCapacity(list.count)
        for (position, key) in list.enumerated() { result[key] = Int32(position) }
        return result
    }
}

extension DataFrame {
    /// - Throws: `.generic` when there is no column of that name.
    func column(named name: String, for use: String) throws -> AnyColumn {
        guard let index = indexOfColumn(name) else {
            let names = columns.map { "'\($0.name)'" }.joined(separator: ", ")
            throw MLCreateError.generic(reason: "there is no \(use) column '\(name)'; the columns are \(names)")
        }
        return columns[index]
    }
}

extension FeatureLayout {
    func encode(to writer: inout CheckpointWriter) {
        writer.write(UInt64(features.count))
        for feature in features {
            writer.write(feature.name)
            switch feature.kind {
            case .number: writer.write(UInt8(0))
            case .categories(let list):
                writer.write(UInt8(1))
                writer.write(list)
            case .keys(let list):
                writer.write(UInt8(2))
                writer.write(list)
            case .integerKeys(let list):
                writer.write(UInt8(3))
                writer.write(list)
            case .array(let shape):
                writer.write(UInt8(4))
                writer.write(shape)
            }
        }
    }

    init(from reader: inout CheckpointReader) throws {
        let count = try reader.readInt(in: 1...1 << 20, "the number of features")
        features = try (0..<count).map { _ in
            let name = try reader.readString()
            switch try reader.readInteger(UInt8.self) {
            case 0: return Feature(name: name, kind: .number)
            case 1: return Feature(name: name, kind: .categories(try reader.readStrings()))
            case 2: return Feature(name: name, kind: .keys(try reader.readStrings()))
            case 3: return Feature(name: name, kind: .integerKeys(try reader.readArray()))
            case 4:
                let shape: [Int] = try reader.readArray()
                var size = 1
                for extent in shape {
                    guard extent > 0, size <= (1 << 31) / extent else { throw reader.damaged("a shape") }
                    size *= extent
                }
                return Feature(name: name, kind: .array(shape: shape))
            default: throw reader.damaged("a kind of feature")
            }
        }
        var total = 0
        for feature in features { total += feature.kind.width }
        guard features.allSatisfy({ $0.kind.width > 0 }), total <= 1 << 31 else { throw reader.damaged("a width") }
    }
}
