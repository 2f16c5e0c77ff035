package import MLGraph
package import MLNumerics
import MLOperators

/// A graph convolutional network (Kipf and Welling 2017) over the joints of a pose.
///
/// Two graph convolutions with ReLU over the vectors from the joints' parents are followed by a dense layer from all joints
/// to the classes. A second dense layer leads from the relations of the joints directly to the classes: it needs few
/// examples. A step is the joints' part of `PoseRelations`, [joints, 3], followed by the distances.
package struct PoseNetwork: SequenceNetwork, Hashable {
    package let classCount: Int
    package let jointCount: Int
    /// [joints, joints]: D^(−1/2) · (A + 1) · D^(−1/2).
    package let adjacency: [Float]

    /// The number of examples that the network is trained on.
    let exampleCount: Int

    static let widths = [3, 32, 64]

    /// The factor of the sum of the squared weights of all layers, which is added to the sum of all examples' losses; that
    /// of a logistic regression with C = 1.
    static let penalty = 0.5

    /// Creates a graph convolutional network for a skeleton.
    ///
    /// - Parameters:
    ///   - jointCount: The number of joints.
    ///   - bones: The pairs of adjacent joints.
    ///   - classCount: The number of classes.
    ///   - exampleCount: The number of training examples.
    package init(jointCount: Int, bones: [(Int, Int)], classCount: Int, exampleCount: Int) {
        self.exampleCount = exampleCount
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

    package var inputCount: Int { PoseRelations.count(joints: jointCount) }
    package var stateWidths: [Int] { [] }
    package var dropouts: [(rate: Double, width: Int)] { [(0.5, jointCount * Self.widths[2])] }
    package var normalizedWidths: [Int] { [] }
    package var penalties: [(parameter: Int, factor: Double)] {
        [0, 2, 4, 6].map { ($0, Self.penalty / Double(exampleCount)) }
    }

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
            ("relations.weight", .zeros([classCount, inputCount])),
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
        let relations = try builder.reshaped(x, [rows, inputCount])
        let width = jointCount * Self.widths[0]
        let joints = try builder.append(
            Split(axis: 1, sizes: [width, inputCount - width]),
            [relations],
            names: ["joints", "distances"]
        )[0]
        var y = try builder.reshaped(joints, [rows, jointCount, Self.widths[0]])
        for layer in 0..<2 {
            let mixed = try builder.add(MatMul(), neighbours, y)
            let sums = try builder.add(Linear(), mixed, parameters[2 * layer], parameters[2 * layer + 1])
            y = try builder.add(Unary(Relu()), sums)
        }
        y = try parts.dropping(builder.reshaped(y, [rows, jointCount * Self.widths[2]]), &builder)
        let ofJoints = try builder.add(Linear(), y, parameters[4], parameters[5])
        let ofRelations = try builder.add(Linear(), relations, parameters[6])
        return (try builder.add(Binary<Add>(), ofJoints, ofRelations), [])
    }
}
