import MLSpecification

extension PoseRelations {
    /// The number of relations that the layers of `append` compute: the distances of (a, b) and of (b, a), too.
    static func layerCount(joints: Int) -> Int { 3 * joints + joints * joints }

    /// Appends layers that compute the relations of a normalised pose.
    ///
    /// - Parameters:
    ///   - writer: The network to append to.
    ///   - input: The name of the pose, [1, joints, 3]: x, y and 1 or 0 for whether the joint was detected.
    ///   - bones: The name of the relations of single joints, [1, joints, 3].
    ///   - output: The name of all relations, [layerCount]: those of single joints, then the distances [joints, joints].
    ///   - skeleton: The skeleton that the joints belong to.
    static func append(
        to writer: inout NetworkWriter,
        input: String,
        bones: String,
        output: String,
        _ skeleton: Skeleton
    ) {
        let joints = skeleton.jointCount
        func subtract(_ a: String, _ b: String, _ output: String) {
            writer.add([a, b], [output], .subtractBroadcastable(SpecSubtractBroadcastableLayerParams()))
        }
        func multiply(_ a: String, _ b: String, _ output: String) {
            writer.add([a, b], [output], .multiplyBroadcastable(SpecMultiplyBroadcastableLayerParams()))
        }
        func split(_ input: String, _ places: String, _ seen: String) {
            writer.slice(input, places, begin: [nil, nil, 0], end: [nil, nil, 2])
            writer.slice(input, seen, begin: [nil, nil, 2], end: [nil, nil, 3])
        }
        var chosen = [Float](repeating: 0, count: joints * joints)
        for (joint, parent) in skeleton.parents.enumerated() { chosen[joint * joints + parent] = 1 }
        writer.constant("parents", chosen, [1, joints, joints])
        writer.add(["parents", input], ["parent_joints"], .batchedMatmul(SpecBatchedMatMulLayerParams()))
        split(input, "joint_places", "joint_seen")
        split("parent_joints", "parent_places", "parent_seen")
        multiply("joint_seen", "parent_seen", "bone_seen")
        subtract("joint_places", "parent_places", "bone_differences")
        multiply("bone_differences", "bone_seen", "bone_vectors")
        writer.concat(["bone_vectors", "joint_seen"], bones, axis: 2)
        writer.reshape(bones, "bones_flat", [3 * joints])

        for (name, width) in [("joint_places", 2), ("joint_seen", 1)] {
            writer.reshape(name, name + "_rows", [joints, 1, width])
            writer.reshape(name, name + "_columns", [1, joints, width])
        }
        subtract("joint_places_rows", "joint_places_columns", "differences")
        multiply("joint_seen_rows", "joint_seen_columns", "pair_seen")
        multiply("differences", "pair_seen", "seen_differences")
        multiply("seen_differences", "seen_differences", "squared_differences")
        var sum = SpecReduceSumLayerParams()
        sum.axes = [-1]
        sum.keepDims = false
        writer.add(["squared_differences"], ["squared_distances"], .reduceSum(sum))
        var root = SpecUnaryFunctionLayerParams()
        root.type = .sqrt
        root.scale = 1
        writer.add(["squared_distances"], ["distances"], .unary(root))
        writer.reshape("distances", "distances_flat", [joints * joints])
        writer.concat(["bones_flat", "distances_flat"], output, axis: 0)
    }

    /// Weights of relations as weights of the results of `append`'s layers.
    ///
    /// - Parameters:
    ///   - weights: [outputs, count].
    ///   - joints: The number of joints.
    /// - Returns: [outputs, layerCount], with 0 for the distances that are there twice.
    static func layerWeights(_ weights: [Float], joints: Int) -> [Float] {
        let (own, all) = (count(joints: joints), layerCount(joints: joints))
        var result = [Float](repeating: 0, count: weights.count / own * all)
        for output in 0..<weights.count / own {
            for index in 0..<3 * joints { result[output * all + index] = weights[output * own + index] }
            var source = output * own + 3 * joints
            for joint in 1..<joints {
                for other in 0..<joint {
                    result[output * all + 3 * joints + joint * joints + other] = weights[source]
                    source += 1
                }
            }
        }
        return result
    }
}
