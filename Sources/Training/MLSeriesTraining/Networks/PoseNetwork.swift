package import MLGraph
package import MLNumerics
import MLOperators

/// A graph convolutional network (Kipf and Welling 2017) over the joints of a pose.
///
/// Two graph convolutions with ReLU are followed by a dense layer from all joints to the classes. A step is a
/// normalised pose: [joints, 3], x, y and confidence.
package struct PoseNetwork: SequenceNetwork, Hashable {
    package let classCount: Int
    package let jointCount: Int
    /// [joints, joints]: D^(−1/2) · (A + 1) · D^(−1/2).
    package let adjacency: [Float]

    static let widths = [3, 32, 64]

    /// Creates a graph convolutional network for a skeleton.
    ///
    /// - Parameters:
    ///   - jointCount: The number of joints.
    ///   - bones: The pairs of adjacent joints.
    ///   - classCount: The number of classes.
    package init(jointCount: Int, bones: [(Int, Int)], classCount: Int) {
        self.jointCount = jointCount
        self.classCount = classCount
        var matrix = [Float](repeating: 0, count: jointCount * jointCount)
        for joint in 0..<jointCount { matrix[joint * jointCount + joint] = 1 }
        for (a, b) in bones {
            matrix[a * jointCount + b] = 1
            matrix[b * jointCount + a] = 1
        }
        let degrees = (0..<jointCount).map { row in
            (0..<jointCount).reduce(Float(0)) { $0 + matrix[row * jointCount + $1] }
        }
        for row in 0..<jointCount {
            for column in 0..<jointCount {
                matrix[row * jointCount + column] /= (degrees[row] * degrees[column]).squareRoot()
            }
        }
        adjacency = matrix
    }

    package var inputCount: Int { jointCount * Self.widths[0] }
    package var stateWidths: [Int] { [] }
    package var dropouts: [(rate: Double, width: Int)] { [(0.5, jointCount * Self.widths[2])] }
    package var normalizedWidths: [Int] { [] }

    package func firstParameters(_ source: inout SplitMix64) -> [(name: String, value: Tensor)] {
        let w = Self.widths
        let flat = jointCount * w[2]
        return [
            ("graph1.weight", .glorot([w[1], w[0]], inputs: w[0], outputs: w[1], &source)),
            ("graph1.bias", .zeros([w[1]])),
            ("graph2.weight", .glorot([w[2], w[1]], inputs: w[1], outputs: w[2], &source)),
            ("graph2.bias", .zeros([w[2]])),
            ("output.weight", .glorot([classCount, flat], inputs: flat, outputs: classCount, &source)),
            ("output.bias", .zeros([classCount])),
        ]
    }

    package func append(
        to builder: inout GraphBuilder,
        x: ValueID,
        parameters: [ValueID],
        states: [ValueID],
        parts: inout NetworkParts
    ) throws(ModelError) -> (logits: ValueID, states: [ValueID]) {
        let rows = builder.shape(of: x).counts?.dropLast().reduce(1, *) ?? 1
        let neighbours = builder.constant(Tensor(adjacency, shape: [jointCount, jointCount]))
        var y = try builder.reshaped(x, [rows, jointCount, Self.widths[0]])
        for layer in 0..<2 {
            let mixed = try builder.add(MatMul(), neighbours, y)
            let sums = try builder.add(Linear(), mixed, parameters[2 * layer], parameters[2 * layer + 1])
            y = try builder.add(Unary(Relu()), sums)
        }
        y = try parts.dropping(builder.reshaped(y, [rows, jointCount * Self.widths[2]]), &builder)
        return (try builder.add(Linear(), y, parameters[4], parameters[5]), [])
    }
}
