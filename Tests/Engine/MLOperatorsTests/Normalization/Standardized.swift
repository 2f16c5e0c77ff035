/// The values with mean 0 and variance 1.
func standardized(_ values: [Double], _ epsilon: Double) -> [Double] {
    let mean = values.reduce(0, +) / Double(values.count)
    let variance = values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(values.count)
    return values.map { ($0 - mean) / (variance + epsilon).squareRoot() }
}
