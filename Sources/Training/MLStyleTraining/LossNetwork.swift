import MLEngine
package import MLFiles
package import MLGraph
import MLLowering
package import MLNumerics
import MLOperators
import MLPasses
import MLTrainingCore

/// A trained network of images whose intermediate values measure style and content.
///
/// Style: the first rectified value of a dense convolution at each size from the whole image's to a sixteenth, and
/// the last one at the largest of these sizes. Content: the second at a quarter and at an eighth (the first where there
/// is only one). Of VGG these are relu1_1, relu1_2, relu2_1, relu3_1, relu4_1, relu5_1, and relu3_2, relu4_2.
package struct LossNetwork: Sendable {
    /// The operations up to the last value that is used; its input is an image from 0 to 255, in the network's order
    /// of colours.
    private let graph: Graph
    private let input: ValueID
    private let isBGR: Bool
    private let styleValues: [ValueID]
    private let contentValues: [ValueID]

    /// The number of channels of each style value.
    package let styleChannels: [Int]
    /// A hash of the operations and weights that are used, which shows whether the network was changed.
    package let fingerprint: UInt64

    /// The size of image at which the values are chosen.
    private static let probeSize = 224
    /// A value with more channels is not used: its Gram matrix would be too large.
    private static let channelLimit = 1024

    /// The values of an image in a graph.
    package struct Values {
        /// [1, C, h, w] each.
        package var style: [ValueID]
        package var content: [ValueID]
    }

    /// - Parameter file: A neural network or ML program with one colour image as its input.
    /// - Throws: `.unsupported` for another input, for a network without rectified convolutions at several sizes, and
    ///   for one with an operation that has no gradient before them.
    package init(_ file: ModelFile) throws(ModelError) {
        let lowered = try EngineLoader.lower(file)
        guard lowered.inputs.count == 1, lowered.states.isEmpty, case .image(let form) = lowered.inputs[0].form,
            form.layout == .rgb || form.layout == .bgr
        else {
            throw ModelError(
                .unsupported,
                "a network that measures style takes one colour image and nothing else; declare its input as an image",
                at: file.path
            )
        }
        isBGR = form.layout == .bgr
        do {
            let prepared = try PassPipeline.prepare(lowered.graph)
            var reader = try PrefixReader(prepared, prepared.inputs[0], Self.probeSize)
            try reader.read(channelLimit: Self.channelLimit)
            let (style, content) = try reader.chosen()
            let whole = reader.builder.finished(outputs: (style + content).map { ("", $0) })
            // Normalisations become part of the convolutions, so that neither they nor their gradients are computed.
            let folded = try PassPipeline.optimize(whole, with: [RemoveIdentities(), FoldBatchNorm(), FuseBias()])
            graph = folded
            input = folded.inputs[0]
            styleValues = Array(folded.body.outputs[..<style.count])
            contentValues = Array(folded.body.outputs[style.count...])
            styleChannels = styleValues.map { folded.type(of: $0).shape[1].count ?? 0 }
            fingerprint = folded.fingerprint
        } catch {
            throw error.at(file.path)
        }
    }

    /// Appends the network to a graph.
    ///
    /// - Parameters:
    ///   - builder: The graph to append to.
    ///   - image: [1, 3, H, W], red, green, blue, from 0 to 1.
    ///   - onlyContent: Whether the values of style are left out, and what only they need.
    /// - Returns: The values; those of style are empty with `onlyContent`.
    /// - Throws: An error when the image is too small for the network.
    package func append(
        to builder: inout GraphBuilder,
        image: ValueID,
        onlyContent: Bool = false
    ) throws(ModelError) -> Values {
        let requested = onlyContent ? contentValues : styleValues + contentValues
        let needed = graph.needed(for: requested)
        var x = try builder.add(Binary<Mul>(), image, builder.number(255))
        if isBGR { x = try builder.add(Reverse(axes: [1]), x) }
        var map = [input: x]
        for operation in graph.body.operations where operation.results.contains(where: needed.contains) {
            try builder.copy(operation, of: graph, &map)
        }
        var values = Values(style: [], content: [])
        if !onlyContent { values.style = styleValues.compactMap { map[$0] } }
        values.content = contentValues.compactMap { map[$0] }
        return values
    }
}

extension GraphBuilder {
    /// Appends an operation of another graph; `map` has the values that replace that graph's, and gets the results.
    fileprivate mutating func copy(
        _ operation: Operation,
        of graph: Graph,
        _ map: inout [ValueID: ValueID]
    ) throws(ModelError) {
        var operands: [ValueID?] = []
        for operand in operation.operands {
            guard let operand else {
                operands.append(nil)
                continue
            }
            if map[operand] == nil {
                guard let tensor = graph.constant(operand) else {
                    throw ModelError(.unsupported, "'\(graph.label(operand))' is not computed from the image alone")
                }
                // In float32, as the gradients are.
                let wide = tensor.scalarType == .float16 ? tensor.converted(to: .float32) : tensor
                map[operand] = constant(wide, name: graph[operand].name)
            }
            operands.append(map[operand])
        }
        guard operation.blocks.isEmpty else {
            throw ModelError(.unsupported, "'\(operation.op.displayName)' runs other operations, which has no gradient")
        }
        location = operation.location
        defer { location = "" }
        let results = try append(operation.op, operands, names: operation.results.map { graph[$0].name })
        for (old, new) in zip(operation.results, results) { map[old] = new }
    }
}

extension Graph {
    /// A hash of the operations and their constants.
    fileprivate var fingerprint: UInt64 {
        var sum = Fingerprint(.wideProduct)
        for operation in body.operations {
            sum.add(Array("\(operation.op)".utf8))
            for case let operand? in operation.operands {
                guard let tensor = constant(operand) else { continue }
                tensor.withBytes { sum.add($0.bytes) }
            }
        }
        return sum.value
    }

    /// The values that `outputs` depend on, themselves included.
    fileprivate func needed(for outputs: [ValueID]) -> Set<ValueID> {
        var needed = Set(outputs)
        for operation in body.operations.reversed() where operation.results.contains(where: needed.contains) {
            needed.formUnion(operation.operands.compactMap { $0 })
        }
        return needed
    }
}

/// Copies a network for images of one size, operation by operation, and collects the values that can be used.
private struct PrefixReader {
    private(set) var builder = GraphBuilder()
    private let graph: Graph
    private let size: Int
    private var map: [ValueID: ValueID]
    /// The rectified values of dense convolutions, in their order, by the factor between the image's size and theirs.
    private var candidates: [Int: [ValueID]] = [:]
    /// Why reading ended before the network did.
    private var stoppingError: ModelError?

    init(_ graph: Graph, _ input: ValueID, _ size: Int) throws(ModelError) {
        guard graph.type(of: input).rank == 4 else {
            throw ModelError(
                .unsupported,
                "the network takes images as \(graph.type(of: input)), not as [1, 3, H, W]"
            )
        }
        self.graph = graph
        self.size = size
        map = [:]
        map[input] = builder.input("picture", ValueType(.float32, Shape([1, 3, size, size])))
    }

    /// The largest factor between the image's size and that of a value.
    private static let factorLimit = 16

    mutating func read(channelLimit: Int) throws(ModelError) {
        /// Values of dense convolutions, also after an addition or normalisation of each channel.
        var dense: Set<ValueID> = []
        for operation in graph.body.operations {
            do { try builder.copy(operation, of: graph, &map) } catch {
                // The end of the network may be made for one size of image; what is before it is enough.
                stoppingError = error
                return
            }
            guard operation.results.count == 1, let result = map[operation.results[0]] else { continue }
            let shape = builder.shape(of: result)
            guard shape.count == 4, let channels = shape[1].count, let height = shape[2].count, height > 0,
                shape[3].count == height
            else { continue }
            let factor = Int((Double(size) / Double(height)).rounded())
            guard factor <= Self.factorLimit else { return }
            let source = operation.operands.first.flatMap { $0 }
            if let convolution = operation.op as? Convolution {
                if convolution.groups == 1 { dense.insert(operation.results[0]) }
            } else if operation.op is BatchNorm || operation.op is InstanceNorm {
                if let source, dense.contains(source) { dense.insert(operation.results[0]) }
            } else if operation.op is any RectifyingOperator, let source, dense.contains(source),
                (8...channelLimit).contains(channels)
            {
                candidates[factor, default: []].append(result)
            }
        }
    }

    func chosen() throws(ModelError) -> (style: [ValueID], content: [ValueID]) {
        let factors = candidates.keys.sorted()
        guard factors.count >= 2, let largest = factors.first.flatMap({ candidates[$0] }) else {
            throw ModelError(
                .unsupported,
                "the network has no rectified convolutions at two sizes or more, which measuring style needs"
                    + (stoppingError.map { "; reading ended early: \($0)" } ?? "")
            )
        }
        var style = factors.compactMap { candidates[$0]?.first }
        if largest.count > 1, let last = largest.last { style.insert(last, at: 1) }
        let content = factors.filter { $0 == 4 || $0 == 8 }.compactMap { factor in
            candidates[factor].map { $0.count > 1 ? $0[1] : $0[0] }
        }
        return (style, content.isEmpty ? [style[style.count - 1]] : content)
    }
}

/// An operator whose result a network uses as a feature: a function that cuts or bends what is negative.
private protocol RectifyingOperator {}

extension Unary: RectifyingOperator where Function: RectifyingFunction {}
extension PRelu: RectifyingOperator {}

private protocol RectifyingFunction: ScalarFunction {}

extension Relu: RectifyingFunction {}
extension Relu6: RectifyingFunction {}
extension ClampedRelu: RectifyingFunction {}
extension Clip: RectifyingFunction {}
extension LeakyRelu: RectifyingFunction {}
extension Elu: RectifyingFunction {}
extension Gelu: RectifyingFunction {}
extension Silu: RectifyingFunction {}
