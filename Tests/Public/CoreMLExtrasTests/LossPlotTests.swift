import CoreMLExtras
import Testing

@Suite struct LossPlotTests {
    @Test func aCurveFillsEighths() {
        #expect(LossPlot([2, 1, 0]).text(height: 2) == "2.00 ┤█\n1.00 ┤██▁\n      1 3")
        #expect(LossPlot([]).text() == "")
        #expect(LossPlot([0]).text() == "")
    }

    @Test func manyValuesShareColumns() {
        let lines = LossPlot((0..<100).map { Double(100 - $0) }).text(height: 4, width: 10).split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines.allSatisfy { $0.count <= 6 + 10 })
        #expect(lines[4].hasSuffix("1      100"))
    }
}
