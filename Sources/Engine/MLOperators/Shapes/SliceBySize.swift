package import MLGraph
package import MLNumerics
import MLSpecification

/// `size[i]` elements from `begin[i]` on, on every axis; a size of −1 takes all remaining ones.
///
/// Operands: x, begin [rank], size [rank].
package struct SliceBySize: Rearrangement {
    package static let names: [MILName] = ["slice_by_size"]

    package init() {}

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        try arguments.operand("begin")
        try arguments.operand("size")
    }

    package var shapeOperands: [Int] { [1, 2] }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        let type = try operands.type(0)
        for index in 1...2 {
            if let count = try operands.integerCount(index), count != type.rank {
                throw ModelError(.invalidModel, "operand \(index) has \(count) elements for rank \(type.rank)")
            }
        }
        let begin = operands.integers(1)
        guard let size = operands.integers(2) else {
            return [type.with(Shape(repeating: .unknown, count: type.rank))]
        }
        var shape: Shape = []
        for axis in 0..<type.rank {
            if let extent = type.shape[axis].count, let begin {
                shape.append(Dimension(try range(extent, begin[axis], size[axis]).count))
            } else {
                shape.append(size[axis] == -1 ? .unknown : Dimension(max(size[axis], 0)))
            }
        }
        return [type.with(shape)]
    }

    package func rearranged(_ x: StridedView, _ integers: (Int) -> [Int]?) throws(ModelError) -> StridedView? {
        guard let begin = integers(1), let size = integers(2) else { return nil }
        guard begin.count == x.shape.count, size.count == x.shape.count else {
            throw ModelError(.invalidModel, "begin and size of a slice must have \(x.shape.count) elements")
        }
        var view = x
        for axis in x.shape.indices {
            let range = try range(x.shape[axis], begin[axis], size[axis])
            view = view.sliced(axis, from: range.start, count: range.count)
        }
        return view
    }

    package func layoutRole(_ operands: Operands) -> LayoutRole {
        operands.constant(1) != nil && operands.constant(2) != nil ? .agnostic : .rowMajor
    }

    private func range(_ extent: Int, _ begin: Int, _ size: Int) throws(ModelError) -> (start: Int, count: Int) {
        let start = begin < 0 ? begin + extent : begin
        let count = size == -1 ? extent - start : size
        guard start >= 0, count >= 0, start <= extent, count <= extent - start else {
            throw ModelError(
                .invalidModel,
                "a slice of \(size) elements that begins at \(begin) exceeds an extent of \(extent)"
            )
        }
        return (start, count)
    }
}

extension SliceBySize: LoweredFromLayers {
    package static var layers: [LayerRule] {
        [
            LayerRule("sliceBySize", \.sliceBySize) { parameters, context throws(ModelError) in
                // One axis; its begin is the second input.
                let x = try context.input()
                let rank = context.rank(of: x)
                let axis = try normalizedAxis(Int(clamping: parameters.axis), rank: rank)
                let begin = try context.integers(context.input(1))
                let start = try context.add(Reshape(), begin, context.constant(integers: [1]))
                var parts: [ValueID?] = []
                for position in 0..<rank { parts.append(position == axis ? start : context.constant(integers: [0])) }
                let begins = try context.append(Concat(axis: 0), parts)[0]
                let sizes = (0..<rank).map { $0 == axis ? Int(clamping: parameters.size) : -1 }
                try context.finish(
                    try context.add(SliceBySize(), x, begins, context.constant(integers: sizes))
                )
            }
        ]
    }
}

extension SliceBySize: DifferentiableOperator {
    package func gradient(_ context: inout GradientContext) throws(ModelError) {
        try context.setMovedGradient(by: self)
    }
}

extension SliceBySize {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        let shape = context.shape()
        guard let begin = context.integers(1), let size = context.integers(2), let extent = shape.first else {
            return nil
        }
        if begin[0] == 0, size[0] == -1 || size[0] == extent, let x = try context.joined(0) {
            let start = context.constant(integers: begin)
            let sizes = context.constant(integers: [context.count * extent] + size.dropFirst())
            return try context.finish(self, [x, start, sizes])
        }
        let x = try context.stacked(0)
        let start = context.constant(integers: [0] + begin)
        let sizes = context.constant(integers: [context.count] + size)
        return try context.finish(self, [x, start, sizes])
    }
}
