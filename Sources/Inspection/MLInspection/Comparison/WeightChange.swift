import MLNumerics

/// The change between a tensor and its counterpart.
package struct WeightChange: Sendable {
    /// The tensor's names in the first and in the second model.
    package let name: String
    package let otherName: String
    package let shape: [Int]
    package let storage: ParameterStorage
    package let otherStorage: ParameterStorage
    /// ‖a − b‖ / ‖a‖; ‖a − b‖ when a is zero.
    package let relativeDistance: Double
    package let largestDifference: Double
    /// The cosine of the angle between both.
    ///
    /// It is 1 for equal directions and when both are zero, because nothing changed; 0 when only one of them is zero.
    package let cosine: Double

    package var hasMoved: Bool { largestDifference != 0 }

    /// - Returns: `nil` when the shapes differ.
    init?(_ a: ParameterTensor, _ b: ParameterTensor) throws(ModelError) {
        let (first, second) = (try a.values(), try b.values())
        guard first.count == second.count, first.shape.filter({ $0 != 1 }) == second.shape.filter({ $0 != 1 }) else {
            return nil
        }
        (name, otherName, shape) = (a.name, b.name, a.shape)
        (storage, otherStorage) = (a.storage, b.storage)
        let sums = WeightSums(first, second)
        relativeDistance = sums.first > 0 ? (sums.difference / sums.first).squareRoot() : sums.difference.squareRoot()
        largestDifference = sums.largest
        let lengths = (sums.first * sums.second).squareRoot()
        cosine = lengths > 0 ? sums.product / lengths : sums.first == sums.second ? 1 : 0
    }
}

/// The sums from which distances are computed, in one pass over both tensors.
private struct WeightSums {
    var first = 0.0
    var second = 0.0
    var product = 0.0
    var difference = 0.0
    var largest = 0.0

    init(_ a: Tensor, _ b: Tensor) {
        if a.scalarType == b.scalarType, a.byteCount == b.byteCount, a.scalarType != .string,
            a.withBytes({ first in b.withBytes { first.elementsEqual($0) } })
        {
            // Identical tensors, whatever their length: the sums of two equal vectors of length 1 give the distance 0 and
            // the cosine 1.
            (first, second, product) = (1, 1, 1)
            return
        }
        switch (a.scalarType, b.scalarType) {
        case (.float32, .float32): add(a, b, Float.self, Float.self)
        case (.float16, .float16): add(a, b, Float16.self, Float16.self)
        case (.float32, .float16): add(a, b, Float.self, Float16.self)
        case (.float16, .float32): add(a, b, Float16.self, Float.self)
        default: add(a.converted(to: .float64), b.converted(to: .float64), Double.self, Double.self)
        }
    }

    private mutating func add<A: BinaryFloatingPoint & BitwiseCopyable, B: BinaryFloatingPoint & BitwiseCopyable>(
        _ a: Tensor,
        _ b: Tensor,
        _: A.Type,
        _: B.Type
    ) {
        var sums = self
        a.withElements(of: A.self) { first in
            b.withElements(of: B.self) { second in
                for index in first.indices {
                    let (x, y) = (Double(first[index]), Double(second[index]))
                    // Equal non-finite numbers do not count as different.
                    if x == y || (x.isNaN && y.isNaN) {
                        if x.isFinite {
                            sums.first += x * x
                            sums.second += y * y
                            sums.product += x * y
                        }
                        continue
                    }
                    let distance = x - y
                    sums.first += x * x
                    sums.second += y * y
                    sums.product += x * y
                    sums.difference += distance * distance
                    sums.largest = distance.isNaN ? .infinity : max(sums.largest, abs(distance))
                }
            }
        }
        self = sums
    }
}
