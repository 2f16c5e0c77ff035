import MLKernels

/// Pseudo-random numbers in −1...1 that are the same in every run.
struct NumberSource {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> Float {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Float(Int32(truncatingIfNeeded: state >> 32)) / 2_147_483_648
    }

    mutating func floats(_ count: Int) -> [Float] { (0..<count).map { _ in next() } }

    /// Whole numbers up to `bound` on both sides.
    mutating func integers(_ count: Int, upTo bound: Float) -> [Int32] {
        (0..<count).map { _ in Int32(clamping: Int((next() * bound).rounded())) }
    }
}

/// Runs `body` with the kernels of each instruction set of this processor, and counts their calls for `KernelCensus`; with
/// `tiles` also with the machine's table, where matrix tiles (AMX) may take the place of kernels that are counted.
func forEachInstructionSet(tiles: Bool = false, _ body: (InstructionSet) -> Void) {
    for table in KernelTable.counting + (tiles ? [.standard] : []) { table.perform { body(table.instructionSet) } }
}

/// The largest difference over 1 + |expected|; infinite when NaN or infinities do not match.
func worstError(_ actual: some Sequence<Float>, _ expected: some Sequence<Double>) -> Double {
    zip(actual, expected).reduce(0) { worst, pair in
        let (a, e) = (Double(pair.0), pair.1)
        if a.isNaN != e.isNaN { return .infinity }
        if a.isNaN || a == e { return worst }
        return max(worst, abs(a - e) / (1 + abs(e)))
    }
}

/// A copy of the array's elements that lives as long as the process.
func pointer<Element>(_ array: [Element]) -> UnsafePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: max(1, array.count))
    copy.initialize(from: array, count: array.count)
    return UnsafePointer(copy)
}
