public import CoreML

/// A point in fractions of an image, origin at the bottom left.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNPoint: NSObject, @unchecked Sendable {
    /// The point at the origin.
    public static var zero: VNPoint { VNPoint(x: 0, y: 0) }
    /// The place as a value.
    public let location: CGPoint
    /// The place from left to right, 0…1 inside the image.
    public var x: Double { location.x }
    /// The place from bottom to top, 0…1 inside the image.
    public var y: Double { location.y }

    /// Creates a point.
    public init(x: Double, y: Double) { location = CGPoint(x: x, y: y) }
    /// Creates a point.
    public convenience init(location: CGPoint) { self.init(x: location.x, y: location.y) }

    /// The distance to another point, in fractions.
    public func distance(_ point: VNPoint) -> Double {
        let (right, up) = (x - point.x, y - point.y)
        return (right * right + up * up).squareRoot()
    }

    /// The coordinates.
    open override var description: String { "(\(x), \(y))" }
}

/// A point that was found, with its confidence.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNDetectedPoint: VNPoint, @unchecked Sendable {
    /// The confidence of the position, 0…1.
    public let confidence: VNConfidence

    init(x: Double, y: Double, confidence: VNConfidence) {
        self.confidence = confidence
        super.init(x: x, y: y)
    }

    /// The coordinates and the confidence.
    open override var description: String { "(\(x), \(y)) (\(confidence))" }
}

/// The name of a point of a `VNRecognizedPointsObservation`.
public struct VNRecognizedPointKey: Hashable, RawRepresentable, Sendable {
    /// The name as text.
    public let rawValue: String
    /// Creates a name of text.
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// The name of a group of points.
public struct VNRecognizedPointGroupKey: Hashable, RawRepresentable, Sendable {
    /// The name as text.
    public let rawValue: String
    /// Creates a name of text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// All points.
    public static let all = VNRecognizedPointGroupKey(rawValue: "VNIPOAll")
}

/// A point that was found and recognised as that of a name.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNRecognizedPoint: VNDetectedPoint, @unchecked Sendable {
    /// The name.
    public let identifier: VNRecognizedPointKey

    init(x: Double, y: Double, confidence: VNConfidence, identifier: VNRecognizedPointKey) {
        self.identifier = identifier
        super.init(x: x, y: y, confidence: confidence)
    }

    /// The name, the coordinates and the confidence.
    open override var description: String { "\(identifier.rawValue) (\(x), \(y)) (\(confidence))" }
}

/// Points by their names.
///
/// `@unchecked Sendable`: everything that it holds is immutable.
open class VNRecognizedPointsObservation: VNObservation, @unchecked Sendable {
    let points: [VNRecognizedPointKey: VNRecognizedPoint]
    let groups: [VNRecognizedPointGroupKey: [VNRecognizedPointKey]]
    /// The points of `keypointsMultiArray()`, in their order.
    private let order: [VNRecognizedPointKey]

    init(
        _ points: [VNRecognizedPoint],
        groups: [VNRecognizedPointGroupKey: [VNRecognizedPointKey]],
        order: [VNRecognizedPointKey],
        confidence: VNConfidence
    ) {
        self.points = Dictionary(points.map { ($0.identifier, $0) }) { first, _ in first }
        self.groups = groups
        self.order = order
        super.init(confidence: confidence)
    }

    /// The names of the points.
    public var availableKeys: [VNRecognizedPointKey] { points.keys.sorted { $0.rawValue < $1.rawValue } }
    /// The names of the groups.
    public var availableGroupKeys: [VNRecognizedPointGroupKey] { groups.keys.sorted { $0.rawValue < $1.rawValue } }

    /// The point of a name.
    ///
    /// - Throws: `VNError.invalidArgument` for a name that the observation does not have.
    public func recognizedPoint(forKey pointKey: VNRecognizedPointKey) throws -> VNRecognizedPoint {
        guard let point = points[pointKey] else {
            throw VNError(.invalidArgument, "\(Swift.type(of: self)) has no point '\(pointKey.rawValue)'.")
        }
        return point
    }

    /// The points of a group.
    ///
    /// - Throws: `VNError.invalidArgument` for a group that the observation does not have.
    public func recognizedPoints(
        forGroupKey groupKey: VNRecognizedPointGroupKey
    ) throws -> [VNRecognizedPointKey: VNRecognizedPoint] {
        guard let keys = groups[groupKey] else {
            throw VNError(.invalidArgument, "\(Swift.type(of: self)) has no group '\(groupKey.rawValue)'.")
        }
        let members = Set(keys)
        return points.filter { members.contains($0.key) }
    }

    /// The points as classifiers of poses take them: [1, 3, points], all x, all y, all confidences, in `float32`.
    ///
    /// - Throws: Never here; the method throws on Apple's systems.
    public func keypointsMultiArray() throws -> MLMultiArray {
        let count = order.count
        let array = try MLMultiArray(shape: [1, 3, count as NSNumber], dataType: .float32)
        array.withUnsafeMutableBufferPointer(ofType: Float.self) { values, _ in
            for (index, key) in order.enumerated() {
                guard let point = points[key] else { continue }
                values[index] = Float(point.x)
                values[count + index] = Float(point.y)
                values[2 * count + index] = point.confidence
            }
        }
        return array
    }

    /// The number of points and the confidence.
    open override var description: String { "\(Swift.type(of: self)): \(points.count) points (\(confidence))" }
}
