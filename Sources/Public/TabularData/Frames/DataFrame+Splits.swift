/// The random number generator used for splits: SplitMix64 by Steele, Lea and Flood.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    /// Starts from `seed`, or from a random state when there is none.
    init(_ seed: Int?) { state = seed.map { UInt64(bitPattern: Int64($0)) } ?? UInt64.random(in: .min ... .max) }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return z ^ z >> 31
    }
}

extension RowSelection {
    /// Returns round(proportion × count) rows drawn at random, and the others.
    func split<G: RandomNumberGenerator>(_ proportion: Double, using generator: inout G) -> (RowSelection, RowSelection)
    {
        require(proportion >= 0 && proportion <= 1, "a proportion is a number from 0 to 1, not \(proportion)")
        let total = count
        var requested = Int((Double(total) * proportion).rounded())
        var left = total
        let firstCount = requested
        var second: [UInt32] = []
        second.reserveCapacity(total - firstCount)
        let first = [UInt32](unsafeUninitializedCapacity: firstCount) { buffer, filled in
            var kept = 0
            forEachPlace { _, row in
                // Each row is chosen with the probability that as many as are wanted come out.
                let draw = generator.next().multipliedFullWidth(by: UInt64(left)).high
                if draw < UInt64(requested) {
                    buffer[kept] = UInt32(row)
                    kept += 1
                    requested -= 1
                } else {
                    second.append(UInt32(row))
                }
                left -= 1
            }
            filled = kept
        }
        return (RowSelection(ascending: first[...]), RowSelection(ascending: second[...]))
    }
}

extension DataFrameProtocol {
    /// Returns round(`proportion` × rows) rows drawn at random, and the remaining ones.
    ///
    /// - Parameters:
    ///   - proportion: The share of the first part, from 0 to 1; other values are a fatal error.
    ///   - seed: The same seed gives the same parts; without one they differ every time.
    /// - Returns: Two slices whose rows are in the frame's order. Apple's generator draws other rows for the same
    ///   seed.
    public func randomSplit(by proportion: Double, seed: Int? = nil) -> (DataFrame.Slice, DataFrame.Slice) {
        var generator = SplitMix(seed)
        return randomSplit(by: proportion, using: &generator)
    }

    /// Returns round(`proportion` × rows) rows drawn by a random number generator, and the remaining ones.
    ///
    /// - Parameters:
    ///   - proportion: The share of the first part, from 0 to 1; other values are a fatal error.
    ///   - generator: Draws one number per row.
    /// - Returns: Two slices whose rows are in the frame's order.
    public func randomSplit<G: RandomNumberGenerator>(
        by proportion: Double,
        using generator: inout G
    ) -> (DataFrame.Slice, DataFrame.Slice) {
        let (first, second) = selection.split(proportion, using: &generator)
        return (DataFrame.Slice(base: base, selection: first), DataFrame.Slice(base: base, selection: second))
    }

    /// Splits the rows so that each distinct element of a column is divided in the same proportion.
    ///
    /// - Parameters:
    ///   - columnName: A column whose elements are `Hashable`; missing elements form a group of their own.
    ///   - proportion: The share of the first part, from 0 to 1.
    ///   - randomSeed: The same seed gives the same parts; without one they differ every time.
    /// - Returns: Two frames whose rows are in this frame's order.
    public func stratifiedSplit(
        on columnName: String,
        by proportion: Double,
        randomSeed: Int? = nil
    ) -> (DataFrame, DataFrame) {
        stratified([columnName], proportion, randomSeed)
    }

    /// Splits the rows so that each combination of elements in several columns is divided in the same proportion.
    public func stratifiedSplit(
        on columnNames: String...,
        by proportion: Double,
        randomSeed: Int? = nil
    ) -> (DataFrame, DataFrame) {
        stratified(columnNames, proportion, randomSeed)
    }

    /// Splits the rows so that each distinct element of a typed column is divided in the same proportion.
    public func stratifiedSplit<T: Hashable>(
        on columnID: ColumnID<T>,
        by proportion: Double,
        randomSeed: Int? = nil
    ) -> (DataFrame, DataFrame) {
        stratified([columnID.name], proportion, randomSeed)
    }

    /// Splits the rows so that each pair of elements in two columns is divided in the same proportion.
    public func stratifiedSplit<T0: Hashable, T1: Hashable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        by proportion: Double,
        randomSeed: Int? = nil
    ) -> (DataFrame, DataFrame) {
        stratified([columnID0.name, columnID1.name], proportion, randomSeed)
    }

    /// Splits the rows so that each combination of elements in three columns is divided in the same proportion.
    public func stratifiedSplit<T0: Hashable, T1: Hashable, T2: Hashable>(
        on columnID0: ColumnID<T0>,
        _ columnID1: ColumnID<T1>,
        _ columnID2: ColumnID<T2>,
        by proportion: Double,
        randomSeed: Int? = nil
    ) -> (DataFrame, DataFrame) {
        stratified([columnID0.name, columnID1.name, columnID2.name], proportion, randomSeed)
    }

    private func stratified(_ names: [String], _ proportion: Double, _ seed: Int?) -> (DataFrame, DataFrame) {
        var generator = SplitMix(seed)
        let groups = GroupedRows(base, selection, by: names)
        var first: [UInt32] = []
        var second: [UInt32] = []
        for group in 0..<groups.count {
            let (one, other) = groups[group].selection.split(proportion, using: &generator)
            first += one.list
            second += other.list
        }
        return (base.gathered(first.sorted()), base.gathered(second.sorted()))
    }
}
