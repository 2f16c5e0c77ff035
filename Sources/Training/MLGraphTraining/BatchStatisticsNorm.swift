import CTraining
package import MLGraph
import MLKernels
package import MLNumerics
import MLOperators

/// Batch normalisation with the statistics of the batch itself, as networks are trained (Ioffe and Szegedy 2015):
/// y = (x − mean) / √(variance + epsilon) · gain + bias, where mean and variance are those of a channel in the whole
/// batch.
///
/// Operands: x [N, C, …], gain [C], bias [C]. Results: y like x, the means [C] and the variances [C], from whose moving
/// means predictions are made. A loss may depend on y only.
package struct BatchStatisticsNorm: DifferentiableOperator {
    package var epsilon: Double

    package init(epsilon: Double) { self.epsilon = epsilon }

    package var displayName: String { "batch_statistics_norm" }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        guard x.rank >= 2, try operands.shape(1) == [x.shape[1]], try operands.shape(2) == [x.shape[1]] else {
            throw ModelError(.invalidModel, "\(displayName) needs [N, C, …] and two vectors [C], not \(x.shape)")
        }
        return [x, x.with([x.shape[1]]), x.with([x.shape[1]])]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (x, gain, bias) = (operands[0], operands[1].values, operands[2].values)
        let channels = ChannelStatistics(x.values, shape: x.shape)
        var values = x.values
        for index in values.indices {
            let channel = channels.channel(of: index)
            let scale = gain[channel] / (channels.variances[channel] + epsilon).squareRoot()
            values[index] = (values[index] - channels.means[channel]) * scale + bias[channel]
        }
        return [
            Tensor(values: values, scalarType: operands.scalarType(0), shape: x.shape),
            Tensor(values: channels.means, scalarType: operands.scalarType(1), shape: [gain.count]),
            Tensor(values: channels.variances, scalarType: operands.scalarType(2), shape: [gain.count]),
        ]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let shape = request.operand(0)?.logicalShape else { return [] }
        let form = ChannelForm(shape)
        let epsilon = Float(epsilon)
        return [
            Kernel("batch statistics") { context in
                let (x, gain, bias) = (context.floats(0), context.floats(1), context.floats(2))
                let (y, means, variances) = (
                    context.resultFloats(0), context.resultFloats(1), context.resultFloats(2)
                )
                Workers.parallelFor(form.channels) { channel, _ in
                    var by = form.channel(epsilon: epsilon, gain: gain[channel], bias: bias[channel])
                    let start = channel * form.positions
                    ctraining_batch_norm(x + start, &by, y + start, means + channel, variances + channel, 1)
                }
            }
        ]
    }

    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        guard context.resultGradients[1] == nil, context.resultGradients[2] == nil else {
            throw ModelError(
                .unsupported,
                "'\(displayName)' has no gradient by its statistics; use only its first result"
            )
        }
        let gradients = try context.builder.append(
            BatchStatisticsNormGradient(epsilon: epsilon),
            [context.operand(0), context.operand(1), context.results[1], context.results[2], context.resultGradient()]
        )
        for (index, gradient) in gradients.enumerated() { context.setGradient(ofOperand: index, to: gradient) }
    }
}

/// The gradient of batch normalisation with the statistics of the batch.
///
/// Operands: x [N, C, …], gain, means and variances [C], the gradient of y like x. Results: the gradients of x, of the
/// gain and of the bias.
struct BatchStatisticsNormGradient: Operator {
    var epsilon: Double

    var displayName: String { "batch_statistics_norm_gradient" }

    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let gain = try operands.type(1)
        return [try operands.type(0), gain, gain]
    }

    func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let (x, dy) = (operands[0].values, operands[4].values)
        let (gain, means, variances) = (operands[1].values, operands[2].values, operands[3].values)
        let channels = ChannelForm(operands[0].shape)
        var (sums, products) = (means.map { _ in 0.0 }, means.map { _ in 0.0 })
        for index in x.indices {
            let channel = channels.channel(of: index)
            sums[channel] += dy[index]
            products[channel] += dy[index] * (x[index] - means[channel])
        }
        let count = Double(x.count / gain.count)
        let inverses = variances.map { 1 / ($0 + epsilon).squareRoot() }
        let dx = x.indices.map { index in
            let channel = channels.channel(of: index)
            let inverse = inverses[channel]
            let slope = products[channel] / count * inverse * inverse
            return gain[channel] * inverse
                * (dy[index] - sums[channel] / count - slope * (x[index] - means[channel]))
        }
        return [
            Tensor(values: dx, scalarType: operands.scalarType(0), shape: operands[0].shape),
            Tensor(
                values: zip(products, inverses).map { $0 * $1 },
                scalarType: operands.scalarType(1),
                shape: [gain.count]
            ),
            Tensor(values: sums, scalarType: operands.scalarType(2), shape: [gain.count]),
        ]
    }

    func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32), let shape = request.operand(0)?.logicalShape else { return [] }
        let form = ChannelForm(shape)
        let epsilon = Float(epsilon)
        return [
            Kernel("batch statistics") { context in
                let (x, gain, dy) = (context.floats(0), context.floats(1), context.floats(4))
                let (means, variances) = (context.floats(2), context.floats(3))
                let (dx, gains, biases) = (context.resultFloats(0), context.resultFloats(1), context.resultFloats(2))
                Workers.parallelFor(form.channels) { channel, _ in
                    var by = form.channel(epsilon: epsilon, gain: gain[channel], bias: 0)
                    let start = channel * form.positions
                    ctraining_batch_norm_gradient(
                        x + start,
                        dy + start,
                        &by,
                        means[channel],
                        variances[channel],
                        dx + start,
                        gains + channel,
                        biases + channel,
                        1
                    )
                }
            }
        ]
    }
}

/// The extents of [images, channels, positions…].
private struct ChannelForm {
    let images: Int
    let channels: Int
    let positions: Int

    init(_ shape: [Int]) {
        (images, channels) = (shape[0], shape[1])
        positions = shape.dropFirst(2).reduce(1, *)
    }

    func channel(of index: Int) -> Int { index / positions % channels }

    func channel(epsilon: Float, gain: Float, bias: Float) -> ctraining_channel {
        ctraining_channel(
            images: images,
            positions: positions,
            step: channels * positions,
            epsilon: epsilon,
            gain: gain,
            bias: bias
        )
    }
}

/// The mean and the variance of each channel, in double precision.
private struct ChannelStatistics {
    private let form: ChannelForm
    private(set) var means: [Double]
    private(set) var variances: [Double]

    init(_ values: [Double], shape: [Int]) {
        form = ChannelForm(shape)
        means = [Double](repeating: 0, count: form.channels)
        variances = means
        let count = Double(form.images * form.positions)
        for (index, value) in values.enumerated() { means[form.channel(of: index)] += value / count }
        for (index, value) in values.enumerated() {
            let distance = value - means[form.channel(of: index)]
            variances[form.channel(of: index)] += distance * distance / count
        }
    }

    func channel(of index: Int) -> Int { form.channel(of: index) }
}
