package import MLGraph
import MLKernels
import MLNumerics

extension NonMaximumSuppression {
    package func kernels(for request: KernelRequest) -> [Kernel] {
        guard let boxes = request.operand(0), let scores = request.operand(1),
            [boxes, scores].allSatisfy({ $0.scalarType == .float32 && $0.layout == .rowMajor }),
            request.results[0].scalarType == .float32, request.results[1].scalarType == .float32,
            boxes.logicalShape[0] == scores.logicalShape[0],
            let overlap = number(request, 2), let score = number(request, 3), boxes.count > 0
        else { return [] }
        let (batch, count) = (boxes.logicalShape[0], request.results[2].logicalShape[1])
        let total = boxes.logicalShape[boxesLast ? 2 : 1]
        let classes = scores.logicalShape[boxesLast ? 1 : 2]
        let kernel = SuppressionKernel(
            boxCount: total,
            classCount: classes,
            boxesLast: boxesLast,
            overlapThreshold: overlapThreshold,
            scoreThreshold: scoreThreshold,
            isPerClass: isPerClass
        )
        let picks = Picks(total: total, count: count, boxesLast: boxesLast)
        let countsBoxes = !boxesLast
        return [
            Kernel("suppression") { context in
                var kernel = kernel
                kernel.overlapThreshold = overlap(context) ?? kernel.overlapThreshold
                kernel.scoreThreshold = score(context) ?? kernel.scoreThreshold
                let places = context.result(2).assumingMemoryBound(to: Int32.self)
                places.update(repeating: -1, count: batch * count)
                for item in 0..<batch {
                    let found = kernel.run(
                        boxes: context.floats(0) + item * total * 4,
                        scores: context.floats(1) + item * total * classes,
                        count: count,
                        into: places + item * count
                    )
                    if countsBoxes {
                        context.result(3).assumingMemoryBound(to: Int32.self)[item] = Int32(found)
                    }
                    let picked = UnsafeBufferPointer(start: places + item * count, count: found)
                    picks.copy(
                        context.floats(0) + item * total * 4,
                        picked,
                        into: context.resultFloats(0) + item * count * 4,
                        width: 4
                    )
                    picks.copy(
                        context.floats(1) + item * total * classes,
                        picked,
                        into: context.resultFloats(1) + item * count * classes,
                        width: classes
                    )
                }
            }
        ]
    }

    /// Reads operand `index`, a single number that replaces an attribute; `nil` when kernels do not take its type.
    private func number(_ request: KernelRequest, _ index: Int) -> (@Sendable (KernelContext) -> Double?)? {
        guard let operand = request.operand(index) else { return { _ in nil } }
        switch operand.scalarType {
        case .float32: return { Double($0.floats(index)[0]) }
        case .int32: return { Double($0.operand(index).assumingMemoryBound(to: Int32.self)[0]) }
        default: return nil
        }
    }
}

/// The selected ones of `total` boxes, moved to the front of `count` places; the rest is zero.
private struct Picks: Sendable {
    let total: Int
    let count: Int
    let boxesLast: Bool

    func copy(
        _ source: UnsafePointer<Float>,
        _ picked: UnsafeBufferPointer<Int32>,
        into target: UnsafeMutablePointer<Float>,
        width: Int
    ) {
        target.update(repeating: 0, count: count * width)
        for part in 0..<width {
            for (rank, box) in picked.enumerated() {
                let from = boxesLast ? part * total + Int(box) : Int(box) * width + part
                target[boxesLast ? part * count + rank : rank * width + part] = source[from]
            }
        }
    }
}
