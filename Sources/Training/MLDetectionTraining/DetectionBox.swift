/// A rectangle in fractions of an image's width and height, origin at the top left.
package struct DetectionBox: Sendable, Hashable, Codable {
    package var left: Double
    package var top: Double
    package var right: Double
    package var bottom: Double

    package init(left: Double, top: Double, right: Double, bottom: Double) {
        (self.left, self.top, self.right, self.bottom) = (left, top, right, bottom)
    }

    package var width: Double { max(right - left, 0) }
    package var height: Double { max(bottom - top, 0) }
    package var area: Double { width * height }

    /// The part inside another rectangle; its area is 0 if there is none.
    package func intersection(_ other: DetectionBox) -> DetectionBox {
        DetectionBox(
            left: max(left, other.left),
            top: max(top, other.top),
            right: min(right, other.right),
            bottom: min(bottom, other.bottom)
        )
    }

    /// The area of the intersection divided by that of the union; 0 when both are empty.
    package func overlap(_ other: DetectionBox) -> Double {
        let common = intersection(other).area
        let union = area + other.area - common
        return union > 0 ? common / union : 0
    }

    /// The whole image.
    package static let whole = DetectionBox(left: 0, top: 0, right: 1, bottom: 1)
}

/// An object in an image: the index of its label, and its box.
package struct DetectionObject: Sendable, Hashable, Codable {
    package var label: Int
    package var box: DetectionBox
    /// Whether the box is exact: those of a view that is turned by other than quarter turns are not.
    package internal(set) var isExact = true

    private enum CodingKeys: String, CodingKey { case label, box }

    package init(label: Int, box: DetectionBox) {
        self.label = label
        self.box = box
    }
}

/// An image to learn from.
package struct DetectionExample: Sendable, Hashable {
    /// The image as the bytes of an image file, upright.
    package var file: [UInt8]
    package var objects: [DetectionObject]

    package init(file: [UInt8], objects: [DetectionObject]) {
        self.file = file
        self.objects = objects
    }
}
