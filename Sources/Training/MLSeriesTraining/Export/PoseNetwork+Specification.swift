package import MLNumerics
package import MLSpecification

extension PoseNetwork {
    /// The network as a model file, from `poses` [1, 3, joints] to a class.
    package func specification(
        parameters: [Tensor],
        skeleton: Skeleton,
        labels: [String],
        names: ClassifierNames
    ) -> SpecModel {
        var writer = NetworkWriter()
        let p = parameters.map(\.floats)
        PoseNormalization.append(to: &writer, input: "poses", output: "pose", skeleton)
        // [1, 3, joints] to [1, joints, 3].
        writer.transpose("pose", "joints", [0, 2, 1])
        PoseRelations.append(to: &writer, input: "joints", bones: "bones", output: "relations", skeleton)
        writer.constant("neighbours", adjacency, [1, jointCount, jointCount])
        var value = "bones"
        for layer in 0..<2 {
            let (mixed, sums) = ("mixed\(layer + 1)", "graph\(layer + 1)")
            writer.add(["neighbours", value], [mixed], .batchedMatmul(SpecBatchedMatMulLayerParams()))
            writer.innerProduct(
                mixed,
                sums,
                inputs: Self.widths[layer],
                outputs: Self.widths[layer + 1],
                weights: p[2 * layer],
                bias: p[2 * layer + 1]
            )
            value = sums + "_relu"
            writer.relu(sums, value)
        }
        let width = jointCount * Self.widths[2]
        writer.reshape(value, "flat", [width])
        writer.innerProduct("flat", "joint_logits", inputs: width, outputs: classCount, weights: p[4], bias: p[5])
        writer.innerProduct(
            "relations",
            "relation_logits",
            inputs: PoseRelations.layerCount(joints: jointCount),
            outputs: classCount,
            weights: PoseRelations.layerWeights(p[6], joints: jointCount)
        )
        writer.add(
            ["joint_logits", "relation_logits"],
            ["logits"],
            .addBroadcastable(SpecAddBroadcastableLayerParams())
        )
        writer.softmax("logits", names.probabilities)
        return .classifier(
            writer,
            inputs: [.array("poses", [1, 3, jointCount], "x, y and confidence of \(jointCount) joints")],
            probabilityLayer: names.probabilities,
            labels: labels,
            names: names,
            version: 4,
            isExact: true
        )
    }
}
