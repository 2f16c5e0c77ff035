import Foundation
import MLDetectionTraining

/// The meaning of the four numbers of a box in annotations.
struct BoxForm: Codable, Hashable, Sendable {
    var isNormalized = false
    /// Whether y grows upwards from the bottom of the picture.
    var isFromBottom = false
    var anchor = Anchor.center

    enum Anchor: String, Codable, Sendable { case center, topLeft, bottomLeft }

    init(isNormalized: Bool = false, isFromBottom: Bool = false, anchor: Anchor) {
        (self.isNormalized, self.isFromBottom, self.anchor) = (isNormalized, isFromBottom, anchor)
    }

    init(_ type: MLObjectDetector.AnnotationType) {
        switch type {
        case .boundingBox(let units, let origin, let anchor):
            isNormalized = units == .normalized
            isFromBottom = origin == .bottomLeft
            self.anchor =
                switch anchor {
                case .center: .center
                case .topLeft: .topLeft
                case .bottomLeft: .bottomLeft
                }
        }
    }

    /// Pixels of the top left corner, as in Pascal VOC and COCO.
    static let corner = BoxForm(anchor: .topLeft)

    /// The box in fractions of a picture of a size, origin at the top left.
    func box(x: Double, y: Double, width: Double, height: Double, in size: (width: Double, height: Double))
        -> DetectionBox
    {
        var (left, top, wide, high) = (x, y, width, height)
        if !isNormalized {
            (left, wide) = (left / size.width, wide / size.width)
            (top, high) = (top / size.height, high / size.height)
        }
        if isFromBottom { top = 1 - top }
        switch anchor {
        case .center: (left, top) = (left - wide / 2, top - high / 2)
        case .topLeft: break
        case .bottomLeft: top -= high
        }
        return DetectionBox(left: left, top: top, right: left + wide, bottom: top + high)
    }

    /// The four numbers of a box, as annotations in this form have them.
    func rectangle(_ box: DetectionBox, in size: (width: Double, height: Double)) -> CGRect {
        var x = box.left
        var y = box.top
        switch anchor {
        case .center: (x, y) = (x + box.width / 2, y + box.height / 2)
        case .topLeft: break
        case .bottomLeft: y += box.height
        }
        if isFromBottom { y = 1 - y }
        let scale = isNormalized ? (width: 1.0, height: 1.0) : size
        return CGRect(
            x: x * scale.width,
            y: y * scale.height,
            width: box.width * scale.width,
            height: box.height * scale.height
        )
    }
}

/// A picture file with its annotations, as a file of annotations states them.
struct AnnotatedPicture: Codable, Hashable, Sendable {
    /// An object; the four numbers are in the picture's `form`.
    struct Object: Codable, Hashable, Sendable {
        var label: String
        var x, y, width, height: Double
    }

    /// The size of the picture in pixels that the annotations state.
    struct Size: Codable, Hashable, Sendable {
        var width, height: Int
    }

    var path: String
    var form: BoxForm
    var objects: [Object] = []
    var size: Size?
    /// Annotations that cannot be used, with the reasons.
    var notes: [String] = []
}
