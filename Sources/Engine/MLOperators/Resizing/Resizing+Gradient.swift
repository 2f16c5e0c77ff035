package import MLGraph
package import MLNumerics

extension Resize {
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
