package import MLGraph
package import MLNumerics
import MLSpecification
import MLKernels

/// The form in which an ML program's operation states a `Resize`.
package protocol ResizeForm: Hashable, Sendable {
    static var milName: MILName { get }
    static func read(_ arguments: inout Arguments) throws(ModelError) -> ResizeAttributes
}

/// The attributes of a `Resize`, whatever operation stated it.
package struct ResizeAttributes: Hashable, Sendable, Codable {
    package enum Target: Hashable, Sendable, Codable {
        /// The extents of the last axes.
        case extents([Int])
        /// The last axes multiplied by these, rounded down.
        case factors([Double])
        /// The last `count` axes have the last elements of operand 1 as extents; 0 keeps an extent.
        case operand(count: Int)

        package var count: Int {
            switch self {
            case .extents(let extents): extents.count
            case .factors(let factors): factors.count
            case .operand(let count): count
            }
        }
    }

    package enum Interpolation: Hashable, Sendable, Codable {
        case linear(SamplingMode)
        /// Element ⌊i · source / target⌋.
        case floor
        /// The element nearest to a sampling mode's position, in a tie the smaller; with the standard mode element ⌊(i
        /// + ½) · source / target⌋.
        case nearest(SamplingMode)
    }

    package var target: Target
    package var interpolation: Interpolation

    package init(_ target: Target, _ interpolation: Interpolation) {
        self.target = target
        self.interpolation = interpolation
    }
}

/// Resizes the last axes by interpolation, one axis after the other.
///
/// Operands: x [lead…, s…], and the target shape when `target` is `operand`. Result: [lead…, t…].
package struct Resize<Form: ResizeForm>: Operator {
    package static var names: [MILName] { [Form.milName] }

    package var attributes: ResizeAttributes

    package init(_ target: ResizeAttributes.Target, _ interpolation: ResizeAttributes.Interpolation) {
        attributes = ResizeAttributes(target, interpolation)
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        attributes = try Form.read(&arguments)
    }

    package var shapeOperands: [Int] {
        if case .operand = attributes.target { [1] } else { [] }
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let x = try operands.type(0)
        let count = attributes.target.count
        guard count <= x.rank else {
            throw ModelError(.invalidModel, "\(displayName) resizes \(count) axes of x \(x)")
        }
        let source = x.shape.suffix(count)
        let target: Shape
        switch attributes.target {
        case .extents(let extents): target = extents.map { Dimension($0) }
        case .factors(let factors):
            target = zip(source, factors).map { extent, factor in
                // Single precision, as the factor is stored: 10 · 0.7 is 7.
                extent.map { Int(saturating: Double((Float($0) * Float(factor)).rounded(.down))) }
            }
        case .operand:
            guard let stated = operands.integers(1) else {
                target = source.map { _ in .unknown }
                break
            }
            guard stated.count >= count else {
                throw ModelError(.invalidModel, "the target shape \(stated) has fewer than \(count) extents")
            }
            target = zip(source, stated.suffix(count)).map { $1 == 0 ? $0 : Dimension($1) }
        }
        for (from, to) in zip(source, target) {
            guard (to.count ?? 1) > 0, (from.count ?? 1) > 0 else {
                throw ModelError(.invalidModel, "\(displayName) cannot resize \(Array(source)) to \(target)")
            }
        }
        return [x.with(x.shape.dropLast(count) + target)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let target = operands.shape()
        var shape = x.shape
        var values = x.values
        for (axis, sampling) in samplings(from: shape, to: target) {
            values = sampling.resizing(values, shape: shape, axis: axis)
            shape[axis] = target[axis]
        }
        return [Tensor(values: values, scalarType: operands.scalarType(), shape: shape)]
    }

    /// The axes that change, and their sampling.
    package func samplings(from source: [Int], to target: [Int]) -> [(axis: Int, sampling: AxisSampling)] {
        (source.count - attributes.target.count..<source.count).compactMap { axis in
            let (from, to) = (source[axis], target[axis])
            switch attributes.interpolation {
            case .floor:
                return from == to ? nil : (axis, AxisSampling(nearest: (0..<to).map { $0 * from / to }, extent: from))
            case .linear(let mode):
                let positions = mode.positions(first: 0, last: Double(from - 1), count: to)
                return (axis, AxisSampling(linear: positions, extent: from))
            case .nearest(.standard):
                let positions = (0..<to).map { (2 * $0 + 1) * from / (2 * to) }
                return (axis, AxisSampling(nearest: positions, extent: from))
            case .nearest(let mode):
                let positions = mode.positions(first: 0, last: Double(from - 1), count: to)
                return (axis, AxisSampling(nearest: positions.map { Int(($0 - 0.5).rounded(.up)) }, extent: from))
            }
        }
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        guard let rank = try? operands.rank(0), (4...5).contains(rank), attributes.target.count <= rank - 2 else {
            return .rowMajor
        }
        return .channelsLastIfAdjacent
    }
}

extension Resize: LoweredFromLayers {
    /// The rules of all resizing layers are declared with `resize_bilinear`.
    package static var layers: [LayerRule] {
        guard self == ResizeBilinear.self else { return [] }
        return [
            LayerRule("resizeBilinear", \.resizeBilinear) { parameters, context throws(ModelError) in
                let size = parameters.targetSize.isEmpty ? [1, 1] : integers(parameters.targetSize)
                let op = ResizeBilinear(.extents(size), .linear(try SamplingMode(parameters.mode)))
                try context.setOutputs([try context.add(op, context.input())])
            },
            LayerRule("upsample", \.upsample) { parameters, context throws(ModelError) in
                var factors = parameters.fractionalScalingFactor.map { Double($0) }
                if factors.isEmpty { factors = parameters.scalingFactor.map { Double($0) } }
                if factors.isEmpty { factors = [1, 1] }
                guard factors.count == 2, factors.allSatisfy({ $0 > 0 && $0 <= 16_777_216 }) else {
                    throw ModelError(
                        .invalidModel,
                        "scaling factors \(factors); rows and columns need one each, above 0"
                    )
                }
                guard parameters.mode == .bilinear else {
                    let op = UpsampleNearestNeighbor(.factors(factors), .floor)
                    try context.setOutputs([try context.add(op, context.input())])
                    return
                }
                let mode: SamplingMode
                switch parameters.linearUpsampleMode {
                case .default: mode = .standard
                case .alignCornersTrue: mode = .strictAlignCorners
                case .alignCornersFalse: mode = .unalignCorners
                case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "upsampling mode \(value) is not known")
                }
                let op = UpsampleBilinear(.factors(factors), .linear(mode))
                try context.setOutputs([try context.add(op, context.input())])
            },
        ]
    }
}

extension Resize {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.computesFloats(), let x = request.operand(0), let y = request.results.first,
            x.layout == y.layout, x.count > 0, y.count > 0, (1...2).contains(attributes.target.count)
        else { return [] }
        let rank = x.logicalShape.count
        let isLast = x.layout == .channelsLast
        guard rank >= 2, !isLast || rank == 4 else { return [] }
        let source = x.logicalShape
        let samplings = samplings(from: source, to: y.logicalShape)
        func axis(_ position: Int) -> ResizeKernel.Axis {
            let extent = source[position]
            guard let sampling = samplings.first(where: { $0.axis == position })?.sampling else {
                return ResizeKernel.Axis(inputSize: extent, nearestAt: Array(0..<extent))
            }
            return ResizeKernel.Axis(
                inputSize: extent,
                low: sampling.lower.map { Int32($0) },
                high: sampling.upper.map { Int32($0) },
                weight: sampling.weight.map { Float($0) }
            )
        }
        let (height, width) = (axis(rank - 2), axis(rank - 1))
        let batch = isLast ? source[0] : source.dropLast(2).reduce(1, *)
        let inner = isLast ? source[1] : 1
        return [
            Kernel("resize") { context in
                ResizeKernel.resize(
                    context.floats(0),
                    into: context.resultFloats(),
                    batch: batch,
                    height: height,
                    width: width,
                    inner: inner
                )
            }
        ]
    }
}

extension Resize: DifferentiableOperator {
    /// Along each axis the result is a matrix times the operand; the gradient is the transposed matrix times dy.
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        let source = try context.extents(context.operand())
        let target = try context.extents(context.results[0])
        var gradient = try context.resultGradient()
        let type = context.scalarType(gradient)
        for (axis, sampling) in samplings(from: source, to: target).reversed() {
            let (from, to) = (source[axis], target[axis])
            let identity = (0..<from * from).map { Double($0 / from == $0 % from ? 1 : 0) }
            let weights = sampling.resizing(identity, shape: [from, from], axis: 1)
            let matrix = context.builder.constant(Tensor(values: weights, scalarType: type, shape: [from, to]))
            var order = Array(source.indices)
            order.append(order.remove(at: axis))
            let inverse = order.indices.map { axis in order.firstIndex(of: axis) ?? axis }
            let rows = try context.add(Transpose(order), gradient)
            gradient = try context.add(Transpose(inverse), context.add(Linear(), rows, matrix, nil))
        }
        context.setGradient(ofOperand: 0, to: gradient)
    }
}

package typealias UpsampleNearestNeighbor = Resize<UpsampleNearestNeighborForm>
package typealias ResizeNearestNeighbor = Resize<ResizeNearestNeighborForm>
package typealias UpsampleBilinear = Resize<UpsampleBilinearForm>
package typealias ResizeBilinear = Resize<ResizeBilinearForm>
package typealias ResizeToShape = Resize<ResizeToShapeForm>

package enum UpsampleNearestNeighborForm: ResizeForm {
    package static let milName: MILName = "upsample_nearest_neighbor"
    package static func read(_ arguments: inout Arguments) throws(ModelError) -> ResizeAttributes {
        ResizeAttributes(try factors(&arguments), .floor)
    }
}

package enum ResizeNearestNeighborForm: ResizeForm {
    package static let milName: MILName = "resize_nearest_neighbor"
    package static func read(_ arguments: inout Arguments) throws(ModelError) -> ResizeAttributes {
        ResizeAttributes(
            .extents([try arguments.int("target_size_height"), try arguments.int("target_size_width")]),
            .nearest(.standard)
        )
    }
}

package enum UpsampleBilinearForm: ResizeForm {
    package static let milName: MILName = "upsample_bilinear"
    package static func read(_ arguments: inout Arguments) throws(ModelError) -> ResizeAttributes {
        let target = try factors(&arguments)
        let isAligned = try arguments.bool("align_corners", default: true)
        let usesCenters = try arguments.bool("half_pixel_centers", default: !isAligned)
        guard !(isAligned && usesCenters) else {
            throw ModelError(.invalidModel, "align_corners and half_pixel_centers exclude each other")
        }
        return ResizeAttributes(
            target,
            .linear(isAligned ? .strictAlignCorners : usesCenters ? .unalignCorners : .standard)
        )
    }
}

package enum ResizeBilinearForm: ResizeForm {
    package static let milName: MILName = "resize_bilinear"
    package static func read(_ arguments: inout Arguments) throws(ModelError) -> ResizeAttributes {
        let height = try arguments.int("target_size_height", default: 1)
        let width = try arguments.int("target_size_width", default: 1)
        return ResizeAttributes(.extents([height, width]), .linear(try SamplingMode(reading: &arguments)))
    }
}

package enum ResizeToShapeForm: ResizeForm {
    package static let milName = MILName("resize", .iOS17 ... .newest)
    package static func read(_ arguments: inout Arguments) throws(ModelError) -> ResizeAttributes {
        try arguments.operand("shape")
        let count = try arguments.int("resized_dims")
        guard count >= 0 else { throw ModelError(.invalidModel, "resized_dims cannot be \(count)") }
        let mode = try SamplingMode(reading: &arguments)
        let interpolation = try arguments.string("interpolation_mode", default: "LINEAR").uppercased()
        switch interpolation {
        case "LINEAR": return ResizeAttributes(.operand(count: count), .linear(mode))
        case "NEAREST_NEIGHBOR": return ResizeAttributes(.operand(count: count), .nearest(mode))
        default: throw ModelError(.unsupported, "interpolation_mode '\(interpolation)' is not known")
        }
    }
}

private func factors(_ arguments: inout Arguments) throws(ModelError) -> ResizeAttributes.Target {
    .factors([
        try arguments.float("scale_factor_height", default: 1), try arguments.float("scale_factor_width", default: 1),
    ])
}

extension Resize {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        context.rank() > attributes.target.count ? try context.rows(self) : try context.shifted(self)
    }
}
