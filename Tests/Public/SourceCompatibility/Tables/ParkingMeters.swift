// An app's source that works on tables, in the style of Apple's documentation and talks: it compiles unchanged.

import Foundation
import TabularData

func loadPolicies(from url: URL) throws -> DataFrame {
    var options = CSVReadingOptions(
        hasHeaderRow: true,
        nilEncodings: ["", "nil"],
        ignoresEmptyLines: true,
        delimiter: ","
    )
    options.addDateParseStrategy(
        Date.ParseStrategy(
            format: "\(year: .defaultDigits)/\(month: .twoDigits)/\(day: .twoDigits)",
            locale: Locale(identifier: "en_US"),
            timeZone: TimeZone(abbreviation: "PST")!
        )
    )
    let policies = try DataFrame(
        contentsOfCSVFile: url,
        columns: ["HourlyRate", "DayOfWeek", "StartDate", "PostID"],
        rows: 0..<100,
        types: ["HourlyRate": .double, "PostID": .string],
        options: options
    )
    var active = DataFrame(
        policies.filter(on: "StartDate", Date.self) { date in
            guard let date = date else { return false }
            return date <= Date()
        }
    )
    active.removeColumn("StartDate")
    return active
}

let postID = ColumnID("PostID", String.self)
let rate = ColumnID("HourlyRate", Double.self)

func describe(meters: DataFrame, policies: DataFrame) -> DataFrame {
    let formattingOptions = FormattingOptions(maximumLineWidth: 250, maximumCellWidth: 15, maximumRowCount: 5)
    print(policies.description(options: formattingOptions))
    var policies = policies
    policies.transformColumn("DayOfWeek") { (day: String) -> Int? in ["Mo", "Tu", "We"].firstIndex(of: day) }
    policies.combineColumns("HourlyRate", "DayOfWeek", into: "pair") { (rate: Double?, day: Int?) -> [Double]? in
        guard let rate = rate, let day = day else { return nil }
        return [rate, Double(day)]
    }
    let joined = meters.joined(policies, on: "PostID", kind: .left)
    let inner = meters.joined(policies, on: (left: postID, right: postID))
    print(joined.columns.map(\.name), inner.shape.rows, joined.columnNames(forAlias: "name"))
    let cheapest = joined.grouped(by: postID).minimums(ColumnID("right.HourlyRate", Double.self), order: .ascending)
    return cheapest
}

func summarise(_ frame: DataFrame) {
    let grouping = frame.grouped(by: "neighborhood")
    print(grouping.counts(order: .descending))
    print(grouping.means("HourlyRate", Double.self))
    print(frame.grouped(by: "neighborhood", "DayOfWeek").counts())
    print(frame.grouped(by: rate, postID).sums(rate))
    let spread = frame.grouped(by: "neighborhood").aggregated(on: "HourlyRate", naming: { "spread of \($0)" }) {
        (column: DiscontiguousColumnSlice<Double>) -> Double? in
        guard let low = column.min(), let high = column.max() else { return nil }
        return high - low
    }
    print(spread, frame.summary(of: "HourlyRate"), frame.summary())
    for (key, group) in frame.grouped(by: postID) { print(key ?? "", group.shape.rows) }
    let (training, testing) = frame.randomSplit(by: 0.8, seed: 5)
    print(DataFrame(training).shape, testing.rows.count)
    let mode = frame["DayOfWeek", String.self].summary().mode
    print(mode, frame[rate].mean() ?? 0, frame.rates)
}

extension DataFrame {
    var rates: [Double] { self["HourlyRate", Double.self].compactMap { $0 } }
}

func edit(_ frame: inout DataFrame) throws {
    frame["double"] = (frame[rate] * 2).eraseToAnyColumn()
    frame[rate][0] = 3.5
    frame[row: 1]["PostID"] = "562-03140"
    frame.append(column: Column<Int>(name: "index", contents: 0..<frame.shape.rows))
    frame.append(column: Column(name: "label", contents: Array(repeating: "meter", count: frame.shape.rows)))
    frame.sort(on: "HourlyRate", Double.self, order: .descending)
    frame = frame.sorted(on: rate, postID, order: .ascending)
    let expensive = frame[frame[rate].filled(with: 0) > 3]
    for row in expensive.rows where row["PostID"] as? String != nil { print(row.index, row[rate] ?? 0) }
    for column in frame.columns { print(column.name, column.wrappedElementType, column.count) }
    let letters = frame[["label", "PostID"]].prefix(3)
    print(letters, frame.PostID, frame.label.distinct())
    let literal: DataFrame = ["a": [1, 2, 3, 5], "b": [1.414, 2.718, 3.14, 6.28]]
    try literal.writeCSV(to: URL(fileURLWithPath: "literal.csv"), options: CSVWritingOptions(delimiter: ";"))
    print(try literal.jsonRepresentation().count)
    do {
        _ = try DataFrame(contentsOfJSONFile: URL(fileURLWithPath: "literal.json"), types: ["a": .integer])
    } catch let error as JSONReadingError {
        print(error.localizedDescription)
    }
    try frame.encodeColumn("index", Int.self, using: JSONEncoder())
    try frame.decode(Int.self, inColumn: "index", using: JSONDecoder())
}
