import Glibc
import MLImages
import MLNumerics

/// A box in which a detector found something, in pixels of the image with the origin at the top left.
struct Detection: Sendable, Hashable {
    var score: Double
    var left: Double
    var top: Double
    var right: Double
    var bottom: Double
    /// Points of the object, x and y.
    var points: [SIMD2<Double>]

    /// The area that two boxes share, divided by the area that they cover.
    func overlap(_ other: Detection) -> Double {
        let width = min(right, other.right) - max(left, other.left)
        let height = min(bottom, other.bottom) - max(top, other.top)
        guard width > 0, height > 0 else { return 0 }
        let shared = width * height
        return shared
            / ((right - left) * (bottom - top) + (other.right - other.left) * (other.bottom - other.top) - shared)
    }
}

/// A detector that states boxes and points relative to the centres of a fixed grid.
struct Detector: Sendable {
    /// Grids of a detector: the pixels between centres, and the boxes at each.
    typealias Grid = (stride: Int, count: Int)

    let network: JointNetwork
    /// The number of points of each box.
    let pointCount: Int
    /// The centres, in fractions of the image.
    private let centres: [SIMD2<Double>]
    /// The least score of a detection.
    static let minimumScore = 0.5
    /// Boxes that overlap by more than this are one detection.
    static let mergingOverlap = 0.3

    init(_ network: JointNetwork, grids: [Grid], pointCount: Int) {
        self.network = network
        self.pointCount = pointCount
        centres = grids.flatMap { grid -> [SIMD2<Double>] in
            let side = network.size / grid.stride
            return (0..<side * side * grid.count).map { index in
                let cell = index / grid.count
                return (SIMD2(Double(cell % side), Double(cell / side)) + 0.5) / Double(side)
            }
        }
    }

    /// Finds objects in a square of an image, the most certain first.
    func detections(
        _ image: Bitmap,
        in square: Bitmap.Square,
        border: Bitmap.Border
    ) throws(ModelError) -> [Detection] {
        let crop = image.square(square, size: network.size, border: border)
        let width = 4 + 2 * pointCount
        let outputs = try network.outputs(of: crop, ["boxes": centres.count * width, "scores": centres.count])
        let (boxes, scores) = (outputs["boxes"] ?? [], outputs["scores"] ?? [])
        let scale = 1 / Double(network.size)
        var found: [Detection] = []
        for (index, centre) in centres.enumerated() {
            let score = 1 / (1 + exp(-min(max(Double(scores[index]), -100), 100)))
            guard score >= Self.minimumScore else { continue }
            func point(_ position: Int) -> SIMD2<Double> {
                let start = index * width + position
                return SIMD2(Double(boxes[start]), Double(boxes[start + 1])) * scale
            }
            let (middle, extent) = (centre + point(0), point(2))
            func position(_ point: SIMD2<Double>) -> SIMD2<Double> {
                let (x, y) = square.position(point.x, point.y)
                return SIMD2(x, y)
            }
            let (first, last) = (position(middle - extent / 2), position(middle + extent / 2))
            found.append(
                Detection(
                    score: score,
                    left: first.x,
                    top: first.y,
                    right: last.x,
                    bottom: last.y,
                    points: (0..<pointCount).map { position(centre + point(4 + 2 * $0)) }
                )
            )
        }
        return Self.merged(found)
    }

    /// Replaces boxes that overlap by their mean, weighted by their scores; the best score remains.
    static func merged(_ detections: [Detection]) -> [Detection] {
        var remaining = detections.sorted { $0.score > $1.score }
        var result: [Detection] = []
        while let best = remaining.first {
            let same = remaining.filter { $0.overlap(best) > mergingOverlap || $0 == best }
            remaining.removeAll { $0.overlap(best) > mergingOverlap || $0 == best }
            let total = same.reduce(0) { $0 + $1.score }
            func mean(_ value: (Detection) -> Double) -> Double {
                same.reduce(0) { $0 + value($1) * $1.score } / total
            }
            result.append(
                Detection(
                    score: best.score,
                    left: mean(\.left),
                    top: mean(\.top),
                    right: mean(\.right),
                    bottom: mean(\.bottom),
                    points: best.points.indices.map { index in
                        SIMD2(mean { $0.points[index].x }, mean { $0.points[index].y })
                    }
                )
            )
        }
        return result
    }
}

extension Bitmap {
    /// The smallest square around the image, enlarged by a factor.
    func whole(_ factor: Double = 1) -> Square {
        Square(x: Double(width) / 2, y: Double(height) / 2, side: Double(max(width, height)) * factor)
    }
}

/// The rotation that turns the direction from one point to another upwards.
func uprightRotation(_ from: SIMD2<Double>, _ to: SIMD2<Double>) -> Double {
    let angle = .pi / 2 - atan2(-(to.y - from.y), to.x - from.x)
    return angle - 2 * .pi * ((angle + .pi) / (2 * .pi)).rounded(.down)
}
