/// The positions of a pose's joints relative to each other.
///
/// For each joint there are the vector to it from its parent and 1 or 0 for whether it was detected, [joints, 3], then
/// the distance of each pair of joints in the order (1, 0), (2, 0), (2, 1), (3, 0), …. Vectors and distances are 0 where
/// one of the two joints was not detected. The layers of `append` compute the same.
enum PoseRelations {
    /// The number of relations of a pose.
    static func count(joints: Int) -> Int { 3 * joints + joints * (joints - 1) / 2 }

    /// The relations in a normalised pose.
    ///
    /// - Parameters:
    ///   - pose: x, y and 1 or 0 for whether the joint was detected: [3, joints].
    ///   - skeleton: The skeleton that the joints belong to.
    /// - Returns: The relations.
    static func relations(_ pose: [Float], _ skeleton: Skeleton) -> [Float] {
        let joints = skeleton.jointCount
        func vector(to joint: Int, from other: Int) -> (x: Float, y: Float) {
            let mask = pose[2 * joints + joint] * pose[2 * joints + other]
            return ((pose[joint] - pose[other]) * mask, (pose[joints + joint] - pose[joints + other]) * mask)
        }
        var result: [Float] = []
        result.reserveCapacity(count(joints: joints))
        for (joint, parent) in skeleton.parents.enumerated() {
            let bone = vector(to: joint, from: parent)
            result += [bone.x, bone.y, pose[2 * joints + joint]]
        }
        for joint in 1..<joints {
            for other in 0..<joint {
                let (x, y) = vector(to: joint, from: other)
                result.append((x * x + y * y).squareRoot())
            }
        }
        return result
    }
}
