import MLLinearTraining
import MLNumerics
import Testing

@Suite struct LinearInputTests {
    @Test func unusableInputIsNamed() {
        func message(_ body: () throws(ModelError) -> Void) -> String {
            do { try body() } catch { return error.description }
            return ""
        }
        func matrix(_ rows: Int, _ blocks: LinearTrainingMatrix.Block...) -> String {
            message { () throws(ModelError) in _ = try LinearTrainingMatrix(rowCount: rows, blocks: blocks) }
        }
        #expect(matrix(0).contains("no examples"))
        #expect(matrix(2).isEmpty)
        #expect(matrix(2, .column([1])).contains("2 examples"))
        #expect(matrix(2, .column([1, 2]), .dense([1, 2, 3, .nan], columns: 2)).contains("column 2 is nan in row 1"))
        #expect(matrix(2, .column([1, -.infinity])).contains("column 0 is -inf in row 1"))
        #expect(matrix(1, .categories([3], count: 3)).contains("category 3 of 3"))
        typealias Sparse = LinearTrainingMatrix.SparseRows
        func sparse(_ starts: [Int], _ columns: [Int32], _ values: [Double]) -> String {
            matrix(2, .sparse(Sparse(starts: starts, columns: columns, values: values, columnCount: 4)))
        }
        #expect(sparse([0, 1, 2], [0, 3], [1, 2]).isEmpty)
        #expect(sparse([0, 1, 2], [0, 4], [1, 2]).contains("column 4 of 4"))
        #expect(sparse([0, 1, 2], [0, -1], [1, 2]).contains("column -1 of 4"))
        #expect(sparse([0, 1, 2], [0, 1], [1, .nan]).contains("column 1 is nan in row 1"))
        #expect(sparse([0, 2, 1], [0, 1], [1, 1]).contains("row 2"))
        #expect(sparse([1, 1, 2], [0, 1], [1, 1]).contains("row 0"))
        #expect(sparse([0, 1], [0], [1]).contains("starts"))
        #expect(sparse([0, 1, 3], [0, 1], [1, 1]).contains("entries"))
        func train(
            _ targets: [Double],
            _ objective: LinearObjective = .leastSquares,
            weights: [Double]? = nil,
            _ change: (inout LinearTrainingSettings) -> Void = { _ in }
        ) -> String {
            message { () throws(ModelError) in
                var settings = LinearTrainingSettings()
                change(&settings)
                _ = try LinearTrainer(
                    try LinearTrainingMatrix(rowCount: 3, blocks: [.column([1, 2, 3])]),
                    targets: targets,
                    weights: weights,
                    objective: objective,
                    settings: settings
                )
            }
        }
        #expect(train([1, 2, 3]).isEmpty)
        #expect(train([1, 2]).contains("2 targets for 3"))
        #expect(train([1, .nan, 2]).contains("row 1"))
        #expect(train([1, 1e300, 2]).contains("overflows"))
        #expect(train([0, 1, 2], .smoothedHinge).contains("row 2"))
        #expect(train([1, 1, 1], .logistic(classes: 2)).contains("every example is of class 1"))
        #expect(train([0, 0, 0], .logistic(classes: 1)).contains("1 classes"))
        #expect(train([1, 2, 3], weights: [1, 0, 1]).contains("weight of row 1"))
        #expect(train([1, 2, 3]) { $0.maxIterations = 0 }.contains("maxIterations"))
        #expect(train([1, 2, 3]) { $0.stepSize = .nan }.contains("stepSize"))
        #expect(train([1, 2, 3]) { $0.l2Penalty = -1 }.contains("l2Penalty"))
        #expect(train([1, 2, 3]) { $0.l1Penalty = .infinity }.contains("l1Penalty"))
        let penalty = message { () throws(ModelError) in _ = try LinearTrainingSettings.supportVector(penalty: 0) }
        #expect(penalty.contains("penalty is 0.0"))
    }
}
