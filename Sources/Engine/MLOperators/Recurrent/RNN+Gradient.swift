package import MLGraph
package import MLNumerics

extension RNN: BackwardRecurrence {
    static var operandCount: Int { 5 }
    static var resultCount: Int { 2 }

    package func gradient(_ context: inout GradientContext) throws(ModelError) { try differentiate(&context) }

    func backwardScratchCount(_ shapes: [[Int]?]) -> Int {
        let x = shapes[0] ?? []
        let states = shapes[3]?[1] ?? 0
        return (5 * x.prefix(2).reduce(1, *) + (x.count > 1 ? x[1] : 0)) * states
    }

    func runBackwards<Scalar: BackwardScalar>(_ run: BackwardRun<Scalar>) {
        let (length, batch) = (run.shape(0)[0], run.shape(0)[1])
        let states = run.shape(3)[1]
        let rows = length * batch
        guard rows * states > 0, let recursion = run.operands[3], let h = run.operands[1] else { return }
        let sums = run.scratch
        let values = sums + rows * states
        let before = values + rows * states
        let flow = before + rows * states
        let turned = flow + rows * states
        let hidden = turned + rows * states
        func time(_ index: Int) -> Int { direction == .reverse ? length - 1 - index : index }
        run.inputSums(into: sums, rows: rows, gates: states, weight: 2, bias: 4)
        hidden.update(from: h, count: batch * states)
        for index in 0..<length {
            let start = time(index) * batch * states
            (before + start).update(from: hidden, count: batch * states)
            Scalar.multiply(
                hidden,
                recursion,
                termStride: 1,
                columnStride: states,
                into: sums + start,
                rows: batch,
                terms: states,
                columns: states,
                adds: true
            )
            Scalar.apply(activation, sums + start, into: values + start, count: batch * states)
            hidden.update(from: values + start, count: batch * states)
        }
        // From here on the current state's buffer holds its gradient.
        for place in 0..<batch * states {
            var total = run.flows[1]?[place] ?? 0
            if !returnsSequence { total += run.flows[0]?[place] ?? 0 }
            hidden[place] = total
        }
        for index in (0..<length).reversed() {
            let start = time(index) * batch * states
            for place in 0..<batch * states {
                if returnsSequence, let steps = run.flows[0] { hidden[place] += steps[index * batch * states + place] }
                flow[start + place] = hidden[place] * activation.derivative(sums[start + place], values[start + place])
            }
            Scalar.multiply(
                flow + start,
                recursion,
                termStride: states,
                columnStride: 1,
                into: hidden,
                rows: batch,
                terms: states,
                columns: states,
                adds: false
            )
        }
        run.gradients[1]?.update(from: hidden, count: batch * states)
        run.addWeights(
            sums: flow,
            turned: turned,
            hidden: before,
            rows: rows,
            gates: states,
            weight: 2,
            stateWeight: 3,
            bias: 4
        )
    }
}
