import Foundation
import TabularData
import Testing

/// Tables as Apple's framework has printed them.
struct FormattingTests {
    static var options: FormattingOptions { FormattingOptions(locale: Locale(identifier: "en_US")) }

    @Test func missingValuesAndFooter() {
        var frame: DataFrame = ["id": [5, 6], "name": ["A", "B"]]
        frame.append(column: Column<Double>(name: "rating", contents: [nil, nil] as [Double?]))
        frame.append(column: Column<Data>(name: "image", contents: [nil, nil] as [Data?]))
        #expect(
            frame.description(options: Self.options) == """
                ┏━━━┳━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━┓
                ┃   ┃ id    ┃ name     ┃ rating   ┃ image  ┃
                ┃   ┃ <Int> ┃ <String> ┃ <Double> ┃ <Data> ┃
                ┡━━━╇━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━┩
                │ 0 │     5 │ A        │      nil │ nil    │
                │ 1 │     6 │ B        │      nil │ nil    │
                └───┴───────┴──────────┴──────────┴────────┘
                2 rows, 4 columns

                """
        )
    }

    @Test func oneElementIsSingular() {
        let column = Column(name: "age", contents: [30, 40])
        let texts = [
            column.description, column[..<1].description, column.filter { $0 == 40 }.description,
            column.eraseToAnyColumn().description, column.eraseToAnyColumn()[..<1].description,
            column.eraseToAnyColumn()[..<0].description,
        ]
        #expect(
            texts.map { $0.split(separator: "\n").last } == [
                "2 elements", "1 element", "1 element", "2 elements", "1 element", "0 elements",
            ]
        )
    }

    @Test func numbersAndLists() {
        var frame = DataFrame()
        frame.append(column: Column(name: "column", contents: ["Rows"]))
        frame.append(column: Column(name: "mean", contents: [3860.6796561]))
        frame.append(column: Column(name: "min", contents: [2.0]))
        frame.append(column: Column<[Any]>(name: "mode", contents: [["Stat2Data", 20]]))
        frame.append(column: Column(name: "someCount", contents: [1745]))
        #expect(
            frame.description(options: Self.options) == """
                ┏━━━┳━━━━━━━━━━┳━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━┓
                ┃   ┃ column   ┃ mean         ┃ min      ┃ mode              ┃ someCount ┃
                ┃   ┃ <String> ┃ <Double>     ┃ <Double> ┃ <Array<Any>>      ┃ <Int>     ┃
                ┡━━━╇━━━━━━━━━━╇━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━┩
                │ 0 │ Rows     │ 3,860.679656 │      2.0 │ ["Stat2Data", 20] │     1,745 │
                └───┴──────────┴──────────────┴──────────┴───────────────────┴───────────┘
                1 row, 5 columns

                """
        )
    }

    @Test func furtherRows() {
        var frame = DataFrame()
        frame.append(column: Column(name: "", contents: (1...1316).map { "\($0)" }))
        frame.append(column: Column(name: "class", contents: (1...1316).map { _ in "1st class" }))
        let lines = frame.description(options: Self.options).split(separator: "\n").map(String.init)
        #expect(lines.count == 4 + 20 + 4)
        #expect(lines[4] == "│ 0  │ 1        │ 1st class │")
        #expect(
            lines.suffix(4) == [
                "┢╍╍╍╍┷╍╍╍╍╍╍╍╍╍╍┷╍╍╍╍╍╍╍╍╍╍╍┪", "┇ ...                       ┇", "┗╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍╍┛",
                "1,316 rows, 2 columns",
            ]
        )
    }

    @Test func furtherColumns() {
        var frame = DataFrame()
        frame.append(column: Column(name: "Package", contents: ["AER"]))
        frame.append(column: Column(name: "n", contents: [9]))
        for extra in 0..<2 {
            frame.append(column: Column(name: "\(extra)", contents: [String(repeating: "x", count: 60)]))
        }
        var options = Self.options
        options.maximumLineWidth = 50
        #expect(
            frame.description(options: options) == """
                ┏━━━┳━━━━━━━━━━┳━━━━━━━┳╍╍╍╍╍╍┓
                ┃   ┃ Package  ┃ n     ┃ 2    ┇
                ┃   ┃ <String> ┃ <Int> ┃ more ┇
                ┡━━━╇━━━━━━━━━━╇━━━━━━━╇╍╍╍╍╍╍┩
                │ 0 │ AER      │     9 │      ┆
                └───┴──────────┴───────┴╌╌╌╌╌╌┘
                1 row, 4 columns

                """
        )
        options.maximumLineWidth = 200
        #expect(frame.description(options: options).contains("│ \(String(repeating: "x", count: 49))… │"))
    }

    @Test func optionsTakeEffect() {
        let frame: DataFrame = ["a": [1.5], "d": [Date(timeIntervalSince1970: 0)]]
        var options = FormattingOptions(maximumLineWidth: 250, maximumCellWidth: 15, maximumRowCount: 5)
        options.locale = Locale(identifier: "de_DE")
        options.includesColumnTypes = false
        options.includesRowIndices = false
        options.includesRowAndColumnCounts = false
        let text = frame.description(options: options)
        #expect(text.contains("1,5") && text.contains("1970-01-01 00:…"))
        #expect(!text.contains("<Double>") && !text.contains("row"))
        #expect(DataFrame().description(options: options).isEmpty == false)
        #expect(frame["a", Double.self].description(options: options).contains("1,5"))
    }
}
