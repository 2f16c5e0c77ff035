import CoreML
import MLPoses

/// A body: 19 joints.
///
/// Neck and root are the middles of shoulders and hips, as certain as the less certain of the two.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNHumanBodyPoseObservation: VNRecognizedPointsObservation, @unchecked Sendable {
    /// The name of a joint; left and right are the person's.
    public struct JointName: Hashable, RawRepresentable, Sendable {
        /// The name as that of a recognised point.
        public let rawValue: VNRecognizedPointKey
        /// Creates the name of a joint.
        public init(rawValue: VNRecognizedPointKey) { self.rawValue = rawValue }

        private init(_ name: String) { self.init(rawValue: VNRecognizedPointKey(rawValue: name)) }

        /// The nose.
        public static let nose = JointName("head_joint")
        /// The left eye.
        public static let leftEye = JointName("left_eye_joint")
        /// The right eye.
        public static let rightEye = JointName("right_eye_joint")
        /// The left ear.
        public static let leftEar = JointName("left_ear_joint")
        /// The right ear.
        public static let rightEar = JointName("right_ear_joint")
        /// The left shoulder.
        public static let leftShoulder = JointName("left_shoulder_1_joint")
        /// The right shoulder.
        public static let rightShoulder = JointName("right_shoulder_1_joint")
        /// The middle of the shoulders.
        public static let neck = JointName("neck_1_joint")
        /// The left elbow.
        public static let leftElbow = JointName("left_forearm_joint")
        /// The right elbow.
        public static let rightElbow = JointName("right_forearm_joint")
        /// The left wrist.
        public static let leftWrist = JointName("left_hand_joint")
        /// The right wrist.
        public static let rightWrist = JointName("right_hand_joint")
        /// The left hip.
        public static let leftHip = JointName("left_upLeg_joint")
        /// The right hip.
        public static let rightHip = JointName("right_upLeg_joint")
        /// The middle of the hips.
        public static let root = JointName("root")
        /// The left knee.
        public static let leftKnee = JointName("left_leg_joint")
        /// The right knee.
        public static let rightKnee = JointName("right_leg_joint")
        /// The left ankle.
        public static let leftAnkle = JointName("left_foot_joint")
        /// The right ankle.
        public static let rightAnkle = JointName("right_foot_joint")

        /// The joints in the order that classifiers of actions take, without the root.
        static let ordered: [JointName] = [
            .nose, .neck, .rightShoulder, .rightElbow, .rightWrist, .leftShoulder, .leftElbow, .leftWrist, .rightHip,
            .rightKnee, .rightAnkle, .leftHip, .leftKnee, .leftAnkle, .rightEye, .leftEye, .rightEar, .leftEar,
        ]
    }

    /// The name of a group of joints.
    public struct JointsGroupName: Hashable, RawRepresentable, Sendable {
        /// The name as that of a group of recognised points.
        public let rawValue: VNRecognizedPointGroupKey
        /// Creates the name of a group.
        public init(rawValue: VNRecognizedPointGroupKey) { self.rawValue = rawValue }

        private init(_ name: String) { self.init(rawValue: VNRecognizedPointGroupKey(rawValue: name)) }

        /// Nose, eyes and ears.
        public static let face = JointsGroupName("VNBLKFACE")
        /// Neck, shoulders, hips and root.
        public static let torso = JointsGroupName("VNBLKTORSO")
        /// The left shoulder, elbow and wrist.
        public static let leftArm = JointsGroupName("VNBLKLARM")
        /// The right shoulder, elbow and wrist.
        public static let rightArm = JointsGroupName("VNBLKRARM")
        /// The left hip, knee and ankle.
        public static let leftLeg = JointsGroupName("VNBLKLLEG")
        /// The right hip, knee and ankle.
        public static let rightLeg = JointsGroupName("VNBLKRLEG")
        /// All joints.
        public static let all = JointsGroupName(rawValue: .all)

        static let members: [JointsGroupName: [JointName]] = [
            .face: [.nose, .leftEye, .rightEye, .leftEar, .rightEar],
            .torso: [.neck, .leftShoulder, .rightShoulder, .leftHip, .rightHip, .root],
            .leftArm: [.leftShoulder, .leftElbow, .leftWrist],
            .rightArm: [.rightShoulder, .rightElbow, .rightWrist],
            .leftLeg: [.leftHip, .leftKnee, .leftAnkle],
            .rightLeg: [.rightHip, .rightKnee, .rightAnkle],
            .all: JointName.ordered + [.root],
        ]
    }

    init(_ body: Body) {
        func point(_ name: JointName, _ numbers: [Int]) -> VNRecognizedPoint {
            let joint = body.joint(numbers)
            return VNRecognizedPoint(
                x: joint.x,
                y: 1 - joint.y,
                confidence: VNConfidence(joint.confidence),
                identifier: name.rawValue
            )
        }
        super.init(
            zip(JointName.ordered, Body.joints).map { point($0, $1) } + [point(.root, Body.root)],
            groups: Dictionary(
                uniqueKeysWithValues: JointsGroupName.members.map { ($0.key.rawValue, $0.value.map(\.rawValue)) }
            ),
            order: JointName.ordered.map(\.rawValue),
            confidence: VNConfidence(body.confidence)
        )
    }

    /// The names of the joints.
    public var availableJointNames: [JointName] { JointName.ordered + [.root] }
    /// The names of the groups.
    public var availableJointsGroupNames: [JointsGroupName] {
        JointsGroupName.members.keys.sorted { $0.rawValue.rawValue < $1.rawValue.rawValue }
    }

    /// The joint of a name.
    ///
    /// - Throws: `VNError.invalidArgument` for a name that bodies do not have.
    public func recognizedPoint(_ jointName: JointName) throws -> VNRecognizedPoint {
        try recognizedPoint(forKey: jointName.rawValue)
    }

    /// The joints of a group.
    ///
    /// - Throws: `VNError.invalidArgument` for a group that bodies do not have.
    public func recognizedPoints(_ jointsGroupName: JointsGroupName) throws -> [JointName: VNRecognizedPoint] {
        let points = try recognizedPoints(forGroupKey: jointsGroupName.rawValue)
        return Dictionary(uniqueKeysWithValues: points.map { (JointName(rawValue: $0.key), $0.value) })
    }
}
