package import MLExtractors
package import MLImages
package import MLNumerics

/// A joint in an image.
package struct Joint: Sendable, Hashable {
    /// The position in fractions of the image's width and height, with the origin at the top left.
    package var x: Double
    package var y: Double
    /// From 0 to 1.
    package var confidence: Double

    package init(x: Double, y: Double, confidence: Double) {
        self.x = x
        self.y = y
        self.confidence = confidence
    }
}

/// A hand in an image.
package struct Hand: Sendable, Hashable {
    /// Wrist, then four joints of the thumb, index, middle, ring and little finger, from the palm outwards.
    package var joints: [Joint]
    /// The confidence that this is a hand, from 0 to 1.
    package var confidence: Double
    /// The confidence that this is a right hand, from 0 to 1, in an image that is not mirrored.
    package var rightHandConfidence: Double

    package static let jointCount = 21
}

/// Finds hands and their joints by MediaPipe's networks: palms first, then the joints in an upright square around each.
package struct HandFinder: Sendable {
    /// The least confidence of a hand.
    package static let minimumConfidence = 0.5

    private let detector: Detector
    private let landmarks: JointNetwork

    /// Loads the installed extractor `mediapipe-hands`.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing.
    package init(_ store: ExtractorStore) throws(ModelError) {
        let (extractor, folder) = (Extractor.mediaPipeHands, store.path(of: .mediaPipeHands))
        detector = Detector(
            try JointNetwork(store.load(extractor, model: "detector"), path: folder),
            grids: [(8, 2), (16, 6)],
            pointCount: 7
        )
        landmarks = try JointNetwork(store.load(extractor, model: "landmarks"), path: folder)
    }

    /// The hands in an image, the most certain palm first.
    ///
    /// Hands that fill an image to its edges are easily missed. So an image in which nothing was found is looked at
    /// again with its edges continued outwards by a quarter, then by half of its longer side.
    /// - Parameters:
    ///   - image: The image, upright.
    ///   - limit: The largest number of hands.
    /// - Returns: The hands with their joints.
    /// - Throws: The errors of the networks.
    package func hands(in image: Bitmap, atMost limit: Int) throws(ModelError) -> [Hand] {
        guard image.width > 0, image.height > 0, limit > 0 else { return [] }
        let image = image.converted(to: .rgba)
        for factor in [1, 1.5, 2] {
            let palms = try detector.detections(
                image,
                in: image.whole(factor),
                border: factor == 1 ? .zeros : .nearest
            )
            var hands: [Hand] = []
            for palm in palms.prefix(limit) {
                if let hand = try hand(at: palm, in: image) { hands.append(hand) }
            }
            if !hands.isEmpty { return hands }
        }
        return []
    }

    /// The square around the hand of a palm: the fingers point upwards, and the palm lies below its middle.
    static func square(_ palm: Detection) -> Bitmap.Square {
        let (width, height) = (palm.right - palm.left, palm.bottom - palm.top)
        var square = Bitmap.Square(
            x: (palm.left + palm.right) / 2,
            y: (palm.top + palm.bottom) / 2,
            side: height,
            rotation: uprightRotation(palm.points[0], palm.points[2])
        )
        // Half of the palm's height, towards the fingers.
        (square.x, square.y) = square.position(0.5, 0)
        square.side = 2.6 * max(width, height)
        return square
    }

    private func hand(at palm: Detection, in image: Bitmap) throws(ModelError) -> Hand? {
        let square = Self.square(palm)
        guard square.side > 0 else { return nil }
        let crop = image.square(square, size: landmarks.size, border: .nearest)
        let outputs = try landmarks.outputs(of: crop, ["landmarks": 63, "presence": 1, "handedness": 1])
        let (positions, presence) = (outputs["landmarks"] ?? [], Double(outputs["presence"]?.first ?? 0))
        guard presence >= Self.minimumConfidence else { return nil }
        let size = Double(landmarks.size)
        let joints = (0..<Hand.jointCount).map { index in
            let (x, y) = square.position(Double(positions[3 * index]) / size, Double(positions[3 * index + 1]) / size)
            return Joint(x: x / Double(image.width), y: y / Double(image.height), confidence: presence)
        }
        // The network states how certain a left hand is in a mirrored image, which is a right one in this.
        return Hand(
            joints: joints,
            confidence: presence,
            rightHandConfidence: Double(outputs["handedness"]?.first ?? 0.5)
        )
    }
}
