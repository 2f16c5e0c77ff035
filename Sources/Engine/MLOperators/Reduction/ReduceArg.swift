package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// Whether `ReduceArg` looks for the greatest or the least element.
package protocol Extremum: Hashable, Sendable {
    static var names: [MILName] { get }
    static func isBetter(_ candidate: Double, than best: Double) -> Bool
    /// The neural-network layers that look for this extremum.
    static var layers: [LayerRule] { get }
}

extension Extremum {
    /// The index of the extremum; a rank of 1 is kept.
    fileprivate static func lower(_ axis: Int64, _ removes: Bool, _ context: inout LayerContext) throws(ModelError) {
        let op = ReduceArg<Self>(axis: Int(clamping: axis), keepsDimensions: !removes)
        try context.finish(try context.add(op, context.input()))
    }
}

package enum Greatest: Extremum {
    package static let names: [MILName] = ["reduce_argmax"]
    package static func isBetter(_ candidate: Double, than best: Double) -> Bool { candidate > best }

    package static var layers: [LayerRule] {
        [
            LayerRule("argMax", \.argMax) { parameters, context throws(ModelError) in
                try lower(parameters.axis, parameters.removeDim, &context)
            }
        ]
    }
}

package enum Least: Extremum {
    package static let names: [MILName] = ["reduce_argmin"]
    package static func isBetter(_ candidate: Double, than best: Double) -> Bool { candidate < best }

    package static var layers: [LayerRule] {
        [
            LayerRule("argMin", \.argMin) { parameters, context throws(ModelError) in
                try lower(parameters.axis, parameters.removeDim, &context)
            }
        ]
    }
}

/// The index of the greatest or least element along `axis`, in a tie the first one.
///
/// [d0…dn] → the same without `axis`, or with extent 1 there, of integers.
package struct ReduceArg<Which: Extremum>: Operator {
    package static var names: [MILName] { Which.names }

    package var axis: Int
    package var keepsDimensions: Bool
    package var scalarType: ScalarType

    package init(axis: Int, keepsDimensions: Bool, scalarType: ScalarType = .int32) {
        self.axis = axis
        self.keepsDimensions = keepsDimensions
        self.scalarType = scalarType
    }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        try arguments.operand("x")
        axis = try arguments.int("axis", default: -1)
        keepsDimensions = try arguments.bool("keep_dims", default: false)
        scalarType = try arguments.indexType("output_dtype")
    }

    package func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        var shape = try operands.numericType(0).shape
        let axis = try operands.axis(axis)
        if keepsDimensions { shape[axis] = 1 } else { shape.remove(at: axis) }
        return [ValueType(scalarType, shape)]
    }

    package func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let x = operands[0]
        let values = x.values
        let lines = Lines(shape: x.shape, axis: try normalizedAxis(axis, rank: x.shape.count))
        var result: [Double] = []
        lines.forEach { start in
            var best = 0
            for index in 0..<lines.count
            where Which.isBetter(values[start + index * lines.stride], than: values[start + best * lines.stride]) {
                best = index
            }
            result.append(Double(best))
        }
        return [Tensor(values: result, scalarType: scalarType, shape: operands.shape())]
    }

    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let x = request.operand(0), x.scalarType == .float32 || x.scalarType == .int32, scalarType == .int32,
            let axis = try? normalizedAxis(axis, rank: x.shape.count), x.shape[axis] > 0
        else { return [] }
        let lines = Lines(shape: x.shape, axis: axis)
        return [
            Kernel("extreme position") { context in
                let y = context.resultIntegers()
                let smallest = Which.isBetter(0, than: 1)
                if x.scalarType == .int32 {
                    ReductionKernel.argExtreme(
                        integers: context.integers(0),
                        into: y,
                        outer: lines.outer,
                        axis: lines.count,
                        inner: lines.stride,
                        smallest: smallest
                    )
                } else {
                    ReductionKernel.argExtreme(
                        context.floats(0),
                        into: y,
                        outer: lines.outer,
                        axis: lines.count,
                        inner: lines.stride,
                        smallest: smallest
                    )
                }
            }
        ]
    }
}

extension ReduceArg: LoweredFromLayers {
    package static var layers: [LayerRule] { Which.layers }
}

extension Arguments {
    /// The scalar type of indices that an argument names: `int32` (the default) or `uint16`.
    mutating func indexType(_ name: String) throws(ModelError) -> ScalarType {
        let text = try string(name, default: "int32")
        guard let type = ScalarType(milName: text.lowercased()), type == .int32 || type == .uint16 else {
            throw ModelError(.invalidModel, "'\(name)' of '\(operationName)' must be int32 or uint16, not '\(text)'")
        }
        return type
    }
}

extension ReduceArg {
    package func batched(_ context: inout BatchContext) throws(ModelError) -> [ValueID]? {
        try context.overAxis(axis) {
            ReduceArg(axis: $0, keepsDimensions: keepsDimensions, scalarType: scalarType)
        }
    }
}
