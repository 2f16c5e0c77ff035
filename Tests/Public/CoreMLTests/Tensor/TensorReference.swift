/// A tensor in plain loops, for comparison: numbers in row-major order.
struct PlainTensor {
    var shape: [Int]
    var values: [Double]

    init(_ shape: [Int], _ values: [Double]) {
        self.shape = shape
        self.values = values
    }

    init(_ shape: [Int], _ value: ([Int]) -> Double) {
        self.shape = shape
        values = Self.places(shape).map(value)
    }

    /// All indices of a shape in row-major order.
    static func places(_ shape: [Int]) -> [[Int]] {
        var places: [[Int]] = [[]]
        for extent in shape { places = places.flatMap { place in (0..<extent).map { place + [$0] } } }
        return places
    }

    subscript(place: [Int]) -> Double {
        var offset = 0
        for (index, extent) in zip(place, shape) { offset = offset * extent + index }
        return values[offset]
    }

    /// A function of two tensors, broadcast.
    static func combine(_ a: PlainTensor, _ b: PlainTensor, _ function: (Double, Double) -> Double) -> PlainTensor {
        let rank = max(a.shape.count, b.shape.count)
        func extent(_ tensor: PlainTensor, _ axis: Int) -> Int {
            let place = axis - (rank - tensor.shape.count)
            return place < 0 ? 1 : tensor.shape[place]
        }
        func place(_ tensor: PlainTensor, _ index: [Int]) -> [Int] {
            zip(index.suffix(tensor.shape.count), tensor.shape).map { $1 == 1 ? 0 : $0 }
        }
        let shape = (0..<rank).map { extent(a, $0) == 1 ? extent(b, $0) : extent(a, $0) }
        return PlainTensor(shape) { function(a[place(a, $0)], b[place(b, $0)]) }
    }

    /// A function of each group of elements that differ only in some axes.
    func reduced(_ axes: [Int], keepRank: Bool, _ function: ([Double]) -> Double) -> PlainTensor {
        let kept = shape.indices.filter { !axes.contains($0) }
        var groups: [[Int]: [Double]] = [:]
        for place in Self.places(shape) { groups[kept.map { place[$0] }, default: []].append(self[place]) }
        let values = Self.places(kept.map { shape[$0] }).map { function(groups[$0] ?? []) }
        let result = keepRank ? shape.indices.map { axes.contains($0) ? 1 : shape[$0] } : kept.map { shape[$0] }
        return PlainTensor(result, values)
    }

    var floats: [Float] { values.map { Float($0) } }
}
