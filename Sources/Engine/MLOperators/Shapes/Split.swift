package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// `x` cut along `axis` into parts of `sizes`, or into `count` equal parts.
package struct Split: Operator {
    package static let names: [MILName] = ["split"]
    package var axis: Int
    package var count: Int
    /// `nil` for equal parts.
    package var sizes: [Int]?

    package init(axis: Int, count: Int) {
        self.axis = axis
        self.count = count
        sizes = nil
    }

    package init(axis: Int, sizes: [Int]) {
        self.axis = axis
        count = sizes.count
        self.sizes = sizes
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axis = try arguments.int("axis")
        let sizes = arguments.has("split_sizes") ? try arguments.ints("split_sizes") : nil
        guard sizes != nil || arguments.has("num_splits") else {
            throw ModelError(.invalidModel, "split needs one of 'num_splits' and 'split_sizes'")
        }
        count = try arguments.int("num_splits", default: sizes?.count)
        self.sizes = sizes
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        let position = try operands.axis(axis)
        guard count > 0, count <= 1 << 20,
            sizes.map({ $0.count == count && $0.allSatisfy { (0...1 << 40).contains($0) } }) ?? true
        else {
            throw ModelError(.invalidModel, "\(count) parts cannot have the sizes \(sizes ?? [])")
        }
        if let extent = type.shape[position].count {
            guard try parts(of: extent).reduce(0, +) == extent else {
                throw ModelError(.invalidModel, "parts of sizes \(sizes ?? []) do not add up to an extent of \(extent)")
            }
        }
        return try (0..<count).map { part throws(ModelError) in
            var shape = type.shape
            if let sizes {
                shape[position] = Dimension(sizes[part])
            } else {
                shape[position] = shape[position].map { $0 / count }
            }
            return type.with(shape)
        }
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let position = try normalizedAxis(axis, rank: x.shape.count)
        let values = x.values
        var start = 0
        return try parts(of: x.shape[position]).map { size in
            let view = StridedView(dense: x.shape).sliced(position, from: start, count: size)
            start += size
            return Tensor(values: view.read(values), scalarType: x.scalarType, shape: view.shape)
        }
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), let width = x.scalarType.copyWidth,
            let position = try? normalizedAxis(axis, rank: x.logicalShape.count)
        else { return [] }
        let whole = StridedView(x)
        var copies: [(start: Int, copy: StridedCopy)] = []
        var start = 0
        for result in request.results {
            let size = result.logicalShape[position]
            let source = whole.sliced(position, from: start, count: size)
                .transposed(result.layout.permutation(rank: whole.shape.count))
            start += size
            guard let copy = StridedCopy(source, StridedView(dense: source.shape), width: width) else { return [] }
            copies.append((source.offset * width, copy))
        }
        if copies.count == 1, x.layout == request.results[0].layout { return [Kernel(aliasing: 0)] }
        return [
            Kernel("split") { [copies] context in
                for (index, part) in copies.enumerated() {
                    part.copy.run(context.operand(0) + part.start, context.result(index))
                }
            }
        ]
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole { .agnostic }

    /// The extents of the parts of an axis of `extent`.
    private func parts(of extent: Int) throws(ModelError) -> [Int] {
        if let sizes { return sizes }
        guard extent % count == 0 else {
            throw ModelError(.invalidModel, "an extent of \(extent) does not divide into \(count) equal parts")
        }
        return [Int](repeating: extent / count, count: count)
    }
}

extension Split: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("split", \.split) { parameters, context throws(ModelError) in
                let x = try context.input()
                let axis = context.rank(of: x) >= 3 ? -3 : 0
                let count = parameters.nOutputs == 0 ? context.layer.output.count : Int(clamping: parameters.nOutputs)
                try context.setOutputs(try context.append(Split(axis: axis, count: count), [x]))
            },
            LayerRule("splitND", \.splitNd) { parameters, context throws(ModelError) in
                let axis = Int(clamping: parameters.axis)
                var sizes = integers(parameters.splitSizes)
                let count = parameters.numSplits == 0 ? context.layer.output.count : Int(clamping: parameters.numSplits)
                let shape = try context.shape(of: context.input())
                if sizes.isEmpty, (1...1 << 20).contains(count),
                    let extent = shape[try normalizedAxis(axis, rank: shape.count)].count
                {
                    // Parts of nearly equal extent; the first ones are larger by 1.
                    sizes = (0..<count).map { extent / count + ($0 < extent % count ? 1 : 0) }
                }
                let op = sizes.isEmpty ? Split(axis: axis, count: count) : Split(axis: axis, sizes: sizes)
                try context.setOutputs(try context.append(op, [context.input()]))
            },
        ]
    }
}

extension Split: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        var parts: [ValueID?] = []
        for (result, gradient) in zip(context.results, context.resultGradients) {
            if let gradient {
                parts.append(gradient)
            } else {
                parts.append(try context.add(FillLike(value: 0, scalarType: context.scalarType(result)), result))
            }
        }
        let dx = try context.builder.append(Concat(axis: axis), parts)[0]
        context.setGradient(ofOperand: 0, to: dx)
    }
}

extension Split {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        var shifted = self
        return try context.overAxis(axis) { position in
            shifted.axis = position
            return shifted
        }
    }
}
