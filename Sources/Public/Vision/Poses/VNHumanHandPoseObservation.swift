import CoreML
import MLPoses

/// The side of the body that a hand belongs to.
public enum VNChirality: Int, Sendable {
    /// Not known.
    case unknown = 0
    /// A left hand.
    case left = -1
    /// A right hand.
    case right = 1
}

/// A hand: 21 joints.
///
/// The networks do not state how certain each joint is, so every joint has the hand's confidence.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNHumanHandPoseObservation: VNRecognizedPointsObservation, @unchecked Sendable {
    /// The name of a joint.
    public struct JointName: Hashable, RawRepresentable, Sendable {
        /// The name as that of a recognised point.
        public let rawValue: VNRecognizedPointKey
        /// Creates the name of a joint.
        public init(rawValue: VNRecognizedPointKey) { self.rawValue = rawValue }

        private init(_ name: String) { self.init(rawValue: VNRecognizedPointKey(rawValue: name)) }

        /// The wrist.
        public static let wrist = JointName("VNHLKWRI")
        /// The thumb's joint at the wrist.
        public static let thumbCMC = JointName("VNHLKTCMC")
        /// The thumb's knuckle.
        public static let thumbMP = JointName("VNHLKTMP")
        /// The thumb's last joint.
        public static let thumbIP = JointName("VNHLKTIP")
        /// The tip of the thumb.
        public static let thumbTip = JointName("VNHLKTTIP")
        /// The index finger's knuckle.
        public static let indexMCP = JointName("VNHLKIMCP")
        /// The index finger's second joint.
        public static let indexPIP = JointName("VNHLKIPIP")
        /// The index finger's last joint.
        public static let indexDIP = JointName("VNHLKIDIP")
        /// The tip of the index finger.
        public static let indexTip = JointName("VNHLKITIP")
        /// The middle finger's knuckle.
        public static let middleMCP = JointName("VNHLKMMCP")
        /// The middle finger's second joint.
        public static let middlePIP = JointName("VNHLKMPIP")
        /// The middle finger's last joint.
        public static let middleDIP = JointName("VNHLKMDIP")
        /// The tip of the middle finger.
        public static let middleTip = JointName("VNHLKMTIP")
        /// The ring finger's knuckle.
        public static let ringMCP = JointName("VNHLKRMCP")
        /// The ring finger's second joint.
        public static let ringPIP = JointName("VNHLKRPIP")
        /// The ring finger's last joint.
        public static let ringDIP = JointName("VNHLKRDIP")
        /// The tip of the ring finger.
        public static let ringTip = JointName("VNHLKRTIP")
        /// The little finger's knuckle.
        public static let littleMCP = JointName("VNHLKPMCP")
        /// The little finger's second joint.
        public static let littlePIP = JointName("VNHLKPPIP")
        /// The little finger's last joint.
        public static let littleDIP = JointName("VNHLKPDIP")
        /// The tip of the little finger.
        public static let littleTip = JointName("VNHLKPTIP")

        /// The joints in the order of the networks and of `keypointsMultiArray()`.
        static let all: [JointName] = [
            .wrist, .thumbCMC, .thumbMP, .thumbIP, .thumbTip, .indexMCP, .indexPIP, .indexDIP, .indexTip, .middleMCP,
            .middlePIP, .middleDIP, .middleTip, .ringMCP, .ringPIP, .ringDIP, .ringTip, .littleMCP, .littlePIP,
            .littleDIP,
            .littleTip,
        ]
    }

    /// The name of a group of joints.
    public struct JointsGroupName: Hashable, RawRepresentable, Sendable {
        /// The name as that of a group of recognised points.
        public let rawValue: VNRecognizedPointGroupKey
        /// Creates the name of a group.
        public init(rawValue: VNRecognizedPointGroupKey) { self.rawValue = rawValue }

        private init(_ name: String) { self.init(rawValue: VNRecognizedPointGroupKey(rawValue: name)) }

        /// The thumb's four joints.
        public static let thumb = JointsGroupName("VNHLRKT")
        /// The index finger's four joints.
        public static let indexFinger = JointsGroupName("VNHLRKI")
        /// The middle finger's four joints.
        public static let middleFinger = JointsGroupName("VNHLRKM")
        /// The ring finger's four joints.
        public static let ringFinger = JointsGroupName("VNHLRKR")
        /// The little finger's four joints.
        public static let littleFinger = JointsGroupName("VNHLRKP")
        /// All joints.
        public static let all = JointsGroupName(rawValue: .all)

        static let members: [JointsGroupName: [JointName]] = {
            var result: [JointsGroupName: [JointName]] = [.all: JointName.all]
            let fingers: [JointsGroupName] = [.thumb, .indexFinger, .middleFinger, .ringFinger, .littleFinger]
            for (index, finger) in fingers.enumerated() {
                result[finger] = Array(JointName.all[1 + 4 * index..<5 + 4 * index])
            }
            return result
        }()
    }

    /// The side of the body that the hand belongs to, in a picture that is not mirrored.
    public let chirality: VNChirality

    init(_ hand: Hand) {
        chirality = hand.rightHandConfidence >= 0.5 ? .right : .left
        super.init(
            zip(JointName.all, hand.joints).map { name, joint in
                VNRecognizedPoint(
                    x: joint.x,
                    y: 1 - joint.y,
                    confidence: VNConfidence(joint.confidence),
                    identifier: name.rawValue
                )
            },
            groups: Dictionary(
                uniqueKeysWithValues: JointsGroupName.members.map { ($0.key.rawValue, $0.value.map(\.rawValue)) }
            ),
            order: JointName.all.map(\.rawValue),
            confidence: VNConfidence(hand.confidence)
        )
    }

    /// The names of the joints.
    public var availableJointNames: [JointName] { JointName.all }
    /// The names of the groups.
    public var availableJointsGroupNames: [JointsGroupName] {
        JointsGroupName.members.keys.sorted { $0.rawValue.rawValue < $1.rawValue.rawValue }
    }

    /// The joint of a name.
    ///
    /// - Throws: `VNError.invalidArgument` for a name that hands do not have.
    public func recognizedPoint(_ jointName: JointName) throws -> VNRecognizedPoint {
        try recognizedPoint(forKey: jointName.rawValue)
    }

    /// The joints of a group.
    ///
    /// - Throws: `VNError.invalidArgument` for a group that hands do not have.
    public func recognizedPoints(_ jointsGroupName: JointsGroupName) throws -> [JointName: VNRecognizedPoint] {
        let points = try recognizedPoints(forGroupKey: jointsGroupName.rawValue)
        return Dictionary(uniqueKeysWithValues: points.map { (JointName(rawValue: $0.key), $0.value) })
    }
}
