package import MLGraph
package import MLNumerics
import MLOperators

/// batch_norm(conv(x)) → conv(x) with scaled weights, when weights and statistics are constants.
package struct FoldBatchNorm: Pass {
    package let name = "fold batch norm"
    package init() {}

    package func patches(for block: BlockView) throws(ModelError) -> [GraphPatch] {
        var patches: [GraphPatch] = []
        for (index, operation) in block.operations.enumerated() {
            guard let norm = operation.as(BatchNorm.self), let x = operation.operands[0], block.isUsedOnce(x),
                let (convolution, producer, _) = block.producer(of: x, as: Convolution.self),
                convolution.activation == .none, producer.operands.count < 4 || producer.operands[3] == nil,
                let weight = block.constant(producer.operands[1]),
                let scaleShift = ScaleShift(norm, operation, block),
                scaleShift.scale.count == weight.shape[0]
            else { continue }
            let biasID = producer.operands.count > 2 ? producer.operands[2] : nil
            guard biasID == nil || block.constant(biasID) != nil else { continue }
            let bias = block.constant(biasID)?.values ?? [Double](repeating: 0, count: weight.shape[0])
            let scaled = scaledRows(weight, by: scaleShift.scale) ?? Self.scaled(weight, by: scaleShift.scale)
            let shifted = bias.indices.map { bias[$0] * scaleShift.scale[$0] + scaleShift.shift[$0] }
            patches.append(
                try block.patch(before: index) { (builder) throws(ModelError) in
                    let weights = builder.constant(scaled)
                    let biases = builder.constant(Tensor(values: shifted, scalarType: .float32, shape: [bias.count]))
                    let result = try builder.add(convolution, producer.operands[0], weights, biases)
                    return [(operation.results[0], result)]
                }
            )
        }
        return patches
    }

    private static func scaled(_ weight: Tensor, by factors: [Double]) -> Tensor {
        let perOutput = weight.count / max(weight.shape[0], 1)
        let values = weight.values.enumerated().map { $1 * factors[$0 / perOutput] }
        return Tensor(values: values, scalarType: .float32, shape: weight.shape)
    }
}

/// A batch normalisation with constant statistics as a linear function of each channel: x · scale + shift.
private struct ScaleShift {
    let scale: [Double]
    let shift: [Double]

    init?(_ norm: BatchNorm, _ operation: Operation, _ block: BlockView) {
        func values(_ index: Int) -> [Double]? {
            index < operation.operands.count ? block.constant(operation.operands[index])?.values : nil
        }
        func isGiven(_ index: Int) -> Bool { index < operation.operands.count && operation.operands[index] != nil }
        guard let mean = values(1), let variance = values(2), !isGiven(3) || values(3) != nil,
            !isGiven(4) || values(4) != nil
        else { return nil }
        let gamma = values(3) ?? mean.map { _ in 1 }
        let beta = values(4) ?? mean.map { _ in 0 }
        guard [variance.count, gamma.count, beta.count].allSatisfy({ $0 == mean.count }) else { return nil }
        let scale = zip(gamma, variance).map { $0 / ($1 + norm.epsilon).squareRoot() }
        self.scale = scale
        shift = mean.indices.map { beta[$0] - mean[$0] * scale[$0] }
    }
}
