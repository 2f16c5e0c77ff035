package import MLNumerics

/// The joints of a hand or body: their order in `poses`, and their connections.
package enum Skeleton: String, Sendable, Hashable, CaseIterable {
    /// Wrist, then four joints of the thumb, index, middle, ring and little finger, from the palm outwards.
    case hand
    /// Nose, neck, right shoulder, elbow, wrist, left …, right hip, knee, ankle, left …, right eye, left eye, right
    /// ear, left ear.
    case body

    package var jointCount: Int {
        switch self {
        case .hand: 21
        case .body: 18
        }
    }

    /// The joint that the others' positions are relative to: the wrist or the neck.
    package var root: Int {
        switch self {
        case .hand: 0
        case .body: 1
        }
    }

    package var bones: [(Int, Int)] {
        switch self {
        case .hand:
            (0..<5).flatMap { finger -> [(Int, Int)] in
                let first = 1 + 4 * finger
                return [(0, first), (first, first + 1), (first + 1, first + 2), (first + 2, first + 3)]
            }
        case .body:
            [
                (0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10), (1, 11), (11, 12),
                (12, 13), (0, 14), (0, 15), (14, 16), (15, 17),
            ]
        }
    }

    /// For each joint the next one on the way to the root, which is its own.
    package var parents: [Int] {
        var parents = [Int](repeating: root, count: jointCount)
        var reached: Set = [root]
        while reached.count < jointCount {
            for (a, b) in bones where reached.contains(a) != reached.contains(b) {
                let (near, far) = reached.contains(a) ? (a, b) : (b, a)
                parents[far] = near
                reached.insert(far)
            }
        }
        return parents
    }

    /// The joints' counterparts after a reflection about a vertical axis.
    package var mirrored: [Int] {
        switch self {
        case .hand: Array(0..<21)
        case .body: [0, 1, 5, 6, 7, 2, 3, 4, 11, 12, 13, 8, 9, 10, 15, 14, 17, 16]
        }
    }
}

/// Successive poses: x, y and confidence of every joint, 0 where a joint was not detected.
package struct PoseSequence: Sendable {
    package let skeleton: Skeleton
    /// [frames, 3, joints], as models take them.
    package let values: [Float]

    package var frameCount: Int { values.count / (3 * skeleton.jointCount) }

    /// - Throws: `.invalidInput` when the numbers are not a whole number of poses, are not finite, or there are none.
    package init(_ values: [Float], _ skeleton: Skeleton, name: String) throws(ModelError) {
        let size = 3 * skeleton.jointCount
        guard !values.isEmpty, values.count % size == 0 else {
            throw ModelError(
                .invalidInput,
                "\(name): \(values.count) key-point numbers are not poses of \(skeleton.jointCount) joints; "
                    + "each frame has 3 × \(skeleton.jointCount): x, y and confidence"
            )
        }
        if let position = values.firstIndex(where: { !$0.isFinite }) {
            throw ModelError(
                .invalidInput,
                "\(name), frame \(position / size): a key point is \(values[position]); set x, y and confidence of joints that "
                    + "were not seen to 0"
            )
        }
        self.skeleton = skeleton
        self.values = values
    }

    /// Frames `range`; the last frame is repeated beyond the end.
    package func frames(_ range: Range<Int>) -> [Float] {
        let size = 3 * skeleton.jointCount
        return range.flatMap { frame -> ArraySlice<Float> in
            let source = Swift.min(frame, frameCount - 1)
            return values[source * size..<(source + 1) * size]
        }
    }
}

/// Normalises the position and size of poses.
///
/// The root joint's mean over all frames in which it was detected moves to the origin, and the mean squared distance of
/// all detected joints from there becomes 1. Joints that were not detected are 0. The layers of `append` compute the
/// same.
enum PoseNormalization {
    /// Added to the mean squared distance.
    static let epsilon: Float = 1e-6

    /// Normalizes the position and the size of a pose in all frames.
    ///
    /// - Parameters:
    ///   - window: The coordinates and confidences [frames, 3, joints].
    ///   - skeleton: The skeleton that the joints belong to.
    /// - Returns: X, y and confidence, joint by joint: [frames, 3, joints].
    static func normalized(_ window: [Float], _ skeleton: Skeleton) -> [Float] {
        let joints = skeleton.jointCount
        let frames = window.count / (3 * joints)
        var result = window
        var seen: Float = 0
        for frame in 0..<frames {
            for joint in 0..<joints {
                let position = frame * 3 * joints + joint
                result[position + 2 * joints] = window[position + 2 * joints] > 0 ? 1 : 0
                seen += result[position + 2 * joints]
            }
        }
        var total: Float = 0
        for axis in 0..<2 {
            var (sum, count): (Float, Float) = (0, 0)
            for frame in 0..<frames {
                let mask = result[(frame * 3 + 2) * joints + skeleton.root]
                sum += window[(frame * 3 + axis) * joints + skeleton.root] * mask
                count += mask
            }
            let centre = sum / (count + epsilon)
            for frame in 0..<frames {
                for joint in 0..<joints {
                    let position = (frame * 3 + axis) * joints + joint
                    result[position] = (window[position] - centre) * result[(frame * 3 + 2) * joints + joint]
                    total += result[position] * result[position]
                }
            }
        }
        let scale = 1 / (total / (seen + epsilon) + epsilon).squareRoot()
        for frame in 0..<frames {
            for position in frame * 3 * joints..<(frame * 3 + 2) * joints { result[position] *= scale }
        }
        return result
    }
}
