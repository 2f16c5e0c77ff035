package import MLNumerics

/// The difference of `found` from `expected`: in shape, type, or first beyond `tolerance`; `nil` when they agree.
///
/// Two numbers agree when their distance is at most `tolerance` · max(1, |expected|); NaN agrees with NaN, and an
/// infinity with itself. Strings agree when equal.
package func difference(_ found: Tensor, _ expected: Tensor, tolerance: Double) -> String? {
    guard found.shape == expected.shape else { return "shape \(found.shape) instead of \(expected.shape)" }
    guard found.scalarType == expected.scalarType else {
        return "type \(found.scalarType.milName) instead of \(expected.scalarType.milName)"
    }
    if found.scalarType == .string { return found.strings == expected.strings ? nil : "other strings" }
    let (x, y) = (found.values, expected.values)
    var worst = 0.0
    var place: Int?
    var count = 0
    for index in x.indices where x[index] != y[index] && !(x[index].isNaN && y[index].isNaN) {
        let error = abs(x[index] - y[index]) / max(1, abs(y[index]))
        guard !(error <= tolerance) else { continue }
        count += 1
        if place == nil || error > worst { (worst, place) = (error, index) }
    }
    guard let place else { return nil }
    var coordinates: [Int] = []
    for stride in found.shape.rowMajorStrides.enumerated() {
        coordinates.append(place / stride.element % found.shape[stride.offset])
    }
    return "\(count) of \(x.count) elements differ, worst at \(coordinates): \(x[place]) instead of \(y[place])"
}
