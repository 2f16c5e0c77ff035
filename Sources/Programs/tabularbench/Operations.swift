import Foundation
import TabularData

/// The operations and the tables that they work on.
struct Operations {
    private let path: String
    private var table = DataFrame()
    private var keys = DataFrame()

    private let string = ColumnID("text", String.self)
    private let key = ColumnID("key", Int.self)
    private let price = ColumnID("price", Double.self)
    private let value = ColumnID("value", Double.self)

    init(path: String, keys: String?) throws {
        self.path = path
        if let keys { self.keys = try DataFrame(contentsOfCSVFile: URL(fileURLWithPath: keys)) }
    }

    /// The figure that tells whether an operation did the same elsewhere.
    mutating func perform(_ operation: String) throws -> Double {
        switch operation {
        case "read":
            table = DataFrame()
            table = try DataFrame(contentsOfCSVFile: URL(fileURLWithPath: path))
            return Double(table.shape.rows * 100 + table.shape.columns)
        case "group-string":
            let grouping = table.grouped(by: string)
            let sums = grouping.sums(price)
            let means = grouping.means(value)
            return sums["sum(price)", Double.self].sum() + Double(means.shape.rows)
        case "group-int":
            let grouping = table.grouped(by: key)
            let sums = grouping.sums(price)
            let means = grouping.means(value)
            return sums["sum(price)", Double.self].sum() + Double(means.shape.rows)
        case "group-two":
            return Double(table.grouped(by: "text", "flag").counts().shape.rows)
        case "join":
            let joined = table.joined(keys, on: "key")
            return joined["right.weight", Double.self].sum() + Double(joined.shape.rows)
        case "sort-float":
            let sorted = table.sorted(on: value)
            return Double(sorted["id", Int.self][sorted.shape.rows / 2]!)
        case "sort-two":
            let sorted = table.sorted(on: string, key)
            return Double(sorted["key", Int.self][sorted.shape.rows / 2]!)
        case "filter":
            let kept = table.filter(on: "count", Int.self) { ($0 ?? 0) > 500 }.filter(on: value) { ($0 ?? 0) > 0 }
            let frame = DataFrame(kept)
            return Double(frame.shape.rows) + frame["price", Double.self].sum()
        case "product":
            let product = table[price] * table[value]
            return product[product.count / 2]!
        case "mean": return table[value].mean()!
        case "unique": return Double(table[string].distinct().count)
        case "split":
            let (first, second) = table.randomSplit(by: 0.8, seed: 1)
            return Double(DataFrame(first).shape.rows - DataFrame(second).shape.rows)
        case "dates":
            let dates = try DataFrame(
                contentsOfCSVFile: URL(fileURLWithPath: path),
                columns: ["date"],
                types: ["date": .date]
            )
            return dates["date", Date.self].max()!.timeIntervalSince1970
        case "write":
            let target = URL(fileURLWithPath: path + ".written")
            defer { try? FileManager.default.removeItem(at: target) }
            try table.writeCSV(to: target)
            return Double(table.shape.rows)
        case "summary": return Double(table.summary().shape.rows)
        default: throw CocoaError(.featureUnsupported)
        }
    }
}
