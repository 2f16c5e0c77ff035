import CoreML
import MLImages
import MLNumerics
import MLPoses

/// The first revision of `VNDetectHumanHandPoseRequest`.
public let VNDetectHumanHandPoseRequestRevision1 = 1
/// The first revision of `VNDetectHumanBodyPoseRequest`.
public let VNDetectHumanBodyPoseRequestRevision1 = 1

/// Finds hands and their joints, by the installed extractor `mediapipe-hands`.
///
/// Performing the request throws `VNError.invalidModel`, with the command that installs it, if it is not installed. Joints are
/// found by other networks than Apple's.
open class VNDetectHumanHandPoseRequest: VNImageBasedRequest {
    /// The largest number of hands to detect, at least 1; 2 by default.
    public var maximumHandCount = 2

    /// The hands of the last run, the most certain first.
    public var results: [VNHumanHandPoseObservation]? { found as? [VNHumanHandPoseObservation] }

    /// Creates a request with an optional completion handler.
    public override init(completionHandler: VNRequestCompletionHandler? = nil) {
        super.init(completionHandler: completionHandler)
    }

    /// The names of the joints of a revision; there is one revision.
    ///
    /// - Throws: `VNError.unsupportedRevision` for another one.
    public class func supportedJointNames(
        forRevision revision: Int
    ) throws -> [VNHumanHandPoseObservation.JointName] {
        guard revision == VNDetectHumanHandPoseRequestRevision1 else { throw unknown(revision) }
        return VNHumanHandPoseObservation.JointName.all
    }

    /// The names of the joints.
    ///
    /// - Throws: `VNError.unsupportedRevision` if the request has another revision than 1.
    public func supportedJointNames() throws -> [VNHumanHandPoseObservation.JointName] {
        try Self.supportedJointNames(forRevision: revision)
    }

    override func perform(on picture: Picture) throws {
        guard maximumHandCount > 0 else {
            throw VNError(.invalidOption, "maximumHandCount is \(maximumHandCount); it must be 1 or more.")
        }
        let (bitmap, region) = (try picture.bitmap(), try checkedRegion())
        found = try translated { () throws(ModelError) in
            try PoseFinders.hands().hands(in: bitmap.part(region), atMost: maximumHandCount)
        }.map { VNHumanHandPoseObservation($0) }
    }
}

/// Finds bodies and their joints, by the installed extractor `mediapipe-body`.
///
/// Performing the request throws `VNError.invalidModel`, with the command that installs it, if it is not installed. Joints are
/// found by other networks than Apple's.
open class VNDetectHumanBodyPoseRequest: VNImageBasedRequest {
    /// The largest number of bodies to detect.
    private static let limit = 16

    /// The bodies of the last run, the most certain first.
    public var results: [VNHumanBodyPoseObservation]? { found as? [VNHumanBodyPoseObservation] }

    /// Creates a request with an optional completion handler.
    public override init(completionHandler: VNRequestCompletionHandler? = nil) {
        super.init(completionHandler: completionHandler)
    }

    /// The names of the joints of a revision; there is one revision.
    ///
    /// - Throws: `VNError.unsupportedRevision` for another one.
    public class func supportedJointNames(
        forRevision revision: Int
    ) throws -> [VNHumanBodyPoseObservation.JointName] {
        guard revision == VNDetectHumanBodyPoseRequestRevision1 else { throw unknown(revision) }
        return VNHumanBodyPoseObservation.JointName.ordered + [.root]
    }

    /// The names of the joints.
    ///
    /// - Throws: `VNError.unsupportedRevision` if the request has another revision than 1.
    public func supportedJointNames() throws -> [VNHumanBodyPoseObservation.JointName] {
        try Self.supportedJointNames(forRevision: revision)
    }

    override func perform(on picture: Picture) throws {
        let (bitmap, region) = (try picture.bitmap(), try checkedRegion())
        found = try translated { () throws(ModelError) in
            try PoseFinders.bodies().bodies(in: bitmap.part(region), atMost: Self.limit)
        }.map { VNHumanBodyPoseObservation($0) }
    }
}

private func unknown(_ revision: Int) -> VNError {
    VNError(.unsupportedRevision, "The revision \(revision) is not known; there is only 1.")
}

/// The result of a finder; its errors as those of this module.
private func translated<Result>(_ body: () throws(ModelError) -> Result) throws -> Result {
    do {
        return try body()
    } catch {
        throw VNError(error.code == .io ? .invalidModel : .operationFailed, "\(error)")
    }
}

extension Bitmap {
    /// The pixels that a region in fractions, origin at the bottom left, touches.
    fileprivate func part(_ region: CGRect) -> Bitmap {
        let left = Int((region.minX * Double(width) + 1e-6).rounded(.down))
        let top = Int(((1 - region.maxY) * Double(height) + 1e-6).rounded(.down))
        let right = Int((region.maxX * Double(width) - 1e-6).rounded(.up))
        let bottom = Int(((1 - region.minY) * Double(height) - 1e-6).rounded(.up))
        return cropped(x: left, y: top, width: max(right - left, 1), height: max(bottom - top, 1))
    }
}
