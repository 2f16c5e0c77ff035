/// The shares of the parts among which things are divided.
struct Proportions {
    private let shares: [Double]

    /// - Parameter values: A number from 0 to 1 for each part; a sum other than 1 is made 1.
    /// - Throws: `MLCreateError` for other numbers, and if all are 0.
    init(_ values: [Double]) throws {
        let sum = values.reduce(0, +)
        guard values.allSatisfy({ (0...1).contains($0) }), sum > 0 else {
            throw MLCreateError.generic(
                reason: "the proportions are \(values); each is from 0 to 1, and not all are 0"
            )
        }
        // Shares that differ from a sum of 1 by rounding only stay as they are.
        shares = abs(sum - 1) < 1e-6 ? values : values.map { $0 / sum }
    }

    /// The end of each part of `count` things, ascending up to `count`.
    func ends(of count: Int) -> [Int] {
        var (ends, sum): ([Int], Double) = ([], 0)
        for (part, share) in shares.enumerated() {
            sum += share
            let end = part == shares.count - 1 ? count : Int((sum * Double(count)).rounded())
            ends.append(min(max(end, ends.last ?? 0), count))
        }
        return ends
    }
}
