import MLGraph
import MLKernels
import MLNumerics

/// A recurrent operator with a backward pass.
protocol BackwardRecurrence: Operator {
    /// The maximum number of operands; the gradients of the results follow them.
    static var operandCount: Int { get }
    static var resultCount: Int { get }
    /// The number of elements of scratch memory that `runBackwards` needs.
    func backwardScratchCount(_ shapes: [[Int]?]) -> Int
    /// Writes the gradient of every given operand.
    func runBackwards<Scalar: BackwardScalar>(_ run: BackwardRun<Scalar>)
}

/// The memory of one backward pass: operands, gradients of results, gradients of operands, by index; absent ones are
/// `nil`.
struct BackwardRun<Scalar: BackwardScalar> {
    let shapes: [[Int]?]
    let operands: [UnsafePointer<Scalar>?]
    let flows: [UnsafePointer<Scalar>?]
    let gradients: [UnsafeMutablePointer<Scalar>?]
    let scratch: UnsafeMutablePointer<Scalar>

    func shape(_ index: Int) -> [Int] { shapes[index] ?? [] }
}

/// The gradient of a recurrent operator: the states are recomputed, then the steps are processed from the last to the
/// first.
///
/// Operands: those of the operator, then the gradients of its results, absent where the loss does not depend on them.
/// Results: a gradient for each given operand of the operator.
struct RecurrentGradient<Recurrence: BackwardRecurrence>: Operator {
    var recurrence: Recurrence

    init(_ recurrence: Recurrence) { self.recurrence = recurrence }

    var displayName: String { recurrence.displayName + "_gradient" }

    func resultTypes(of operands: Operands) throws(ModelError) -> [ValueType] {
        var types: [ValueType] = []
        for index in 0..<Recurrence.operandCount where operands.has(index) { types.append(try operands.type(index)) }
        return types
    }

    func reference(_ operands: ReferenceOperands) throws(ModelError) -> [Tensor] {
        let count = Recurrence.operandCount
        let values = (0..<count + Recurrence.resultCount).map { operands.optional($0)?.values }
        let shapes = (0..<count).map { operands.optional($0)?.shape }
        let lists = values.map { list -> UnsafeMutablePointer<Double>? in
            guard let list else { return nil }
            let copy = UnsafeMutablePointer<Double>.allocate(capacity: Swift.max(list.count, 1))
            copy.initialize(from: list, count: list.count)
            return copy
        }
        let gradients = values.prefix(count).map { list -> UnsafeMutablePointer<Double>? in
            guard let list else { return nil }
            let zeros = UnsafeMutablePointer<Double>.allocate(capacity: Swift.max(list.count, 1))
            zeros.initialize(repeating: 0, count: Swift.max(list.count, 1))
            return zeros
        }
        let scratchCount = Swift.max(recurrence.backwardScratchCount(shapes), 1)
        let scratch = UnsafeMutablePointer<Double>.allocate(capacity: scratchCount)
        scratch.initialize(repeating: 0, count: scratchCount)
        defer {
            (lists + gradients).forEach { $0?.deallocate() }
            scratch.deallocate()
        }
        recurrence.runBackwards(
            BackwardRun(
                shapes: shapes,
                operands: lists.prefix(count).map { $0.map { UnsafePointer($0) } },
                flows: lists.suffix(Recurrence.resultCount).map { $0.map { UnsafePointer($0) } },
                gradients: gradients,
                scratch: scratch
            )
        )
        var results: [Tensor] = []
        for index in 0..<count {
            guard let gradient = gradients[index], let shape = shapes[index] else { continue }
            let values = Array(UnsafeBufferPointer(start: gradient, count: shape.elementCount))
            results.append(Tensor(values: values, scalarType: operands.scalarType(results.count), shape: shape))
        }
        return results
    }

    func kernels(for request: KernelRequest) -> [Kernel] {
        guard request.isAll(.float32) else { return [] }
        let count = Recurrence.operandCount
        let shapes = (0..<count).map { request.operand($0)?.logicalShape }
        let recurrence = recurrence
        return [
            Kernel("backwards", scratchByteCount: recurrence.backwardScratchCount(shapes) * 4) { context in
                func pointer(_ index: Int) -> UnsafePointer<Float>? {
                    context.optionalFloats(index)
                }
                var gradients: [UnsafeMutablePointer<Float>?] = []
                var place = 0
                for shape in shapes {
                    gradients.append(shape == nil ? nil : context.resultFloats(place))
                    if let shape {
                        context.resultFloats(place).update(repeating: 0, count: shape.elementCount)
                        place += 1
                    }
                }
                recurrence.runBackwards(
                    BackwardRun(
                        shapes: shapes,
                        operands: (0..<count).map(pointer),
                        flows: (count..<count + Recurrence.resultCount).map(pointer),
                        gradients: gradients,
                        scratch: context.scratchFloats
                    )
                )
            }
        ]
    }
}

extension BackwardRecurrence {
    /// Adds the operation of the backward pass, and sets its results as gradients.
    func differentiate(_ context: inout GradientContext) throws(ModelError) {
        var operands = context.operands
        while operands.count < Self.operandCount { operands.append(nil) }
        var flows = context.resultGradients
        while flows.count < Self.resultCount { flows.append(nil) }
        let gradients = try context.builder.append(RecurrentGradient(self), operands + flows)
        var place = 0
        for index in operands.indices where operands[index] != nil {
            context.setGradient(ofOperand: index, to: gradients[place])
            place += 1
        }
    }
}

extension BackwardRun {
    /// The gradients of input weights, state weights, bias and input from those of the gates' sums.
    ///
    /// - Parameters:
    ///   - sums: The gradients of the gates' sums [rows, gates].
    ///   - turned: A buffer of the same size for the transposed sums.
    ///   - hidden: The states before each step, [rows, states].
    ///   - rows: The number of steps times the batch size.
    ///   - gates: The number of values of all gates in a row.
    ///   - weight: The index of the input weight's operand.
    ///   - stateWeight: The index of the state weight's operand.
    ///   - bias: The index of the bias operand; `nil` when there is none.
    func addWeights(
        sums: UnsafeMutablePointer<Scalar>,
        turned: UnsafeMutablePointer<Scalar>,
        hidden: UnsafePointer<Scalar>?,
        rows: Int,
        gates: Int,
        weight: Int,
        stateWeight: Int,
        bias: Int?
    ) {
        let inputs = shape(weight)[1]
        let states = shape(stateWeight)[1]
        for row in 0..<rows {
            for gate in 0..<gates { turned[gate * rows + row] = sums[row * gates + gate] }
        }
        if let x = operands[0], let w = operands[weight], let dx = gradients[0], let dw = gradients[weight] {
            Scalar.multiply(
                sums,
                w,
                termStride: inputs,
                columnStride: 1,
                into: dx,
                rows: rows,
                terms: gates,
                columns: inputs,
                adds: true
            )
            Scalar.multiply(
                turned,
                x,
                termStride: inputs,
                columnStride: 1,
                into: dw,
                rows: gates,
                terms: rows,
                columns: inputs,
                adds: true
            )
        }
        if let hidden, let dr = gradients[stateWeight] {
            Scalar.multiply(
                turned,
                hidden,
                termStride: states,
                columnStride: 1,
                into: dr,
                rows: gates,
                terms: rows,
                columns: states,
                adds: true
            )
        }
        if let bias, let db = gradients[bias] {
            for gate in 0..<gates {
                var total: Scalar = 0
                for row in 0..<rows { total += turned[gate * rows + row] }
                db[gate] += total
            }
        }
    }

    /// The gates' sums over the input, including the bias, [rows, gates].
    func inputSums(
        into sums: UnsafeMutablePointer<Scalar>,
        rows: Int,
        gates: Int,
        weight: Int,
        bias: Int
    ) {
        guard let x = operands[0], let w = operands[weight] else { return }
        let inputs = shape(weight)[1]
        Scalar.multiply(
            x,
            w,
            termStride: 1,
            columnStride: inputs,
            into: sums,
            rows: rows,
            terms: inputs,
            columns: gates,
            adds: false
        )
        guard let b = operands[bias] else { return }
        for row in 0..<rows {
            for gate in 0..<gates { sums[row * gates + gate] += b[gate] }
        }
    }
}
