/// Poses as models of poses and actions take them: all x, all y, all confidences, in fractions of the image with the
/// origin at the bottom left.
extension Hand {
    /// [3, 21].
    package var values: [Float] { PoseValues.values(joints) }
}

extension Body {
    /// [3, 18], in the order of `joints`.
    package var values: [Float] { PoseValues.values(Self.joints.map { joint($0) }) }
}

private enum PoseValues {
    static func values(_ joints: [Joint]) -> [Float] {
        joints.map { Float($0.x) } + joints.map { Float(1 - $0.y) } + joints.map { Float($0.confidence) }
    }
}
