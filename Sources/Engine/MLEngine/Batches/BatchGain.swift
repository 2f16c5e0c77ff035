import MLGraph
import MLNumerics
import MLOperators

/// The saving from computing several examples at once.
///
/// A product with few rows takes as long as reading its weights: measured, up to about as long as with `narrowRows`
/// rows. Several examples share one reading. Everything else takes as long for each example, and longer where the
/// activations of several no longer fit the caches.
struct BatchGain {
    /// Rows with which a product takes about as long as reading its weights.
    static let narrowRows = 32
    /// The part of the work that has to be saved.
    static let minimumFraction = 0.25

    /// Multiplications, those of products with fewer rows counted as with `narrowRows`.
    private(set) var work = 0.0
    /// The part of `work` for rows that are not there.
    private(set) var saved = 0.0

    /// Sums up a bound graph; one with open extents counts their products with one row.
    init(_ graph: Graph) {
        for operation in graph.body.operations { add(operation, in: graph) }
    }

    var isWorthwhile: Bool { saved > 0 && saved >= Self.minimumFraction * work }

    private mutating func add(_ operation: Operation, in graph: Graph) {
        func shape(_ index: Int) -> [Int] {
            guard index < operation.operands.count, let id = operation.operands[index] else { return [] }
            return graph.type(of: id).shape.map { $0.count ?? 1 }
        }
        func isConstant(_ index: Int) -> Bool {
            index < operation.operands.count && operation.operands[index].flatMap { graph.constant($0) } != nil
        }
        let result = operation.results.first.map { graph.type(of: $0).shape.map { $0.count ?? 1 } } ?? []
        switch operation.op {
        case is Linear, is DynamicLinear:
            addProduct(weights: shape(1).elementCount, rows: shape(0).dropLast().reduce(1, *))
        case is Convolution:
            addProduct(
                weights: shape(1).elementCount,
                rows: result.elementCount / max(result.dropFirst().first ?? 1, 1)
            )
        case is ConvolutionTransposed:
            addProduct(
                weights: shape(1).elementCount,
                rows: shape(0).elementCount / max(shape(0).dropFirst().first ?? 1, 1)
            )
        case is MatMul:
            let terms = shape(0).last ?? 1
            if isConstant(1) {
                addProduct(weights: shape(1).elementCount, rows: shape(0).elementCount / max(terms, 1))
            } else {
                work += Double(result.elementCount) * Double(terms)
            }
        case is ScaledDotProductAttention:
            let keys = shape(1).dropLast().last ?? 1
            work += 2 * Double(shape(0).elementCount) * Double(keys)
        case is LSTM, is GRU, is RNN:
            // The initial states have as many rows as the batch or more, and are no weights.
            let weights = operation.operands.indices.dropFirst(operation.is(LSTM.self) ? 3 : 2).map(shape)
            addRecurrence(shape(0), weights: weights.filter { $0.count == 2 })
        default: work += Double(result.elementCount)
        }
    }

    private mutating func addProduct(weights: Int, rows: Int, times: Int = 1) {
        let each = Double(weights) * Double(times)
        work += each * Double(max(rows, Self.narrowRows))
        saved += each * Double(max(Self.narrowRows - rows, 0))
    }

    /// A layer over x [S, B, I]: the weights for x, the first of each pair, see all steps at once, those for the state
    /// one step after another.
    private mutating func addRecurrence(_ x: [Int], weights: [[Int]]) {
        guard x.count == 3 else { return }
        for (index, weight) in weights.enumerated() {
            let isForInputs = index % 2 == 0
            addProduct(
                weights: weight.elementCount,
                rows: isForInputs ? x[0] * x[1] : x[1],
                times: isForInputs ? 1 : x[0]
            )
        }
    }
}
