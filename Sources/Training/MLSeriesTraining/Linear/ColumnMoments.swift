/// The mean and the standard deviation of each column of a matrix, in double precision.
struct ColumnMoments {
    private(set) var means: [Double]
    private let deviations: [Double]

    /// - Parameters:
    ///   - values: The matrix [count, columns].
    ///   - count: The number of rows, at least 1.
    init(_ values: [Float], count: Int) {
        let width = values.count / count
        means = [Double](repeating: 0, count: width)
        for row in 0..<count {
            for k in 0..<width { means[k] += Double(values[row * width + k]) }
        }
        for k in 0..<width { means[k] /= Double(count) }
        var squares = [Double](repeating: 0, count: width)
        for row in 0..<count {
            for k in 0..<width {
                let difference = Double(values[row * width + k]) - means[k]
                squares[k] += difference * difference
            }
        }
        deviations = squares.map { ($0 / Double(count)).squareRoot() }
    }

    /// The inverse of each deviation; 1 for columns whose deviation is `minimum` or less, which count as constant.
    func scales(above minimum: Double) -> [Double] { deviations.map { $0 > minimum ? 1 / $0 : 1 } }
}
