import Glibc
package import MLExtractors
package import MLImages
package import MLNumerics

/// A body in an image.
package struct Body: Sendable, Hashable {
    /// MediaPipe's 33 points: nose, eyes (inner, middle, outer; left first), ears, corners of the mouth, then in pairs,
    /// left first, shoulders, elbows, wrists, little fingers, index fingers, thumbs, hips, knees, ankles, heels and
    /// toes.
    package var points: [Joint]
    /// The confidence that this is a body, from 0 to 1.
    package var confidence: Double
    /// The square around the body in the image, in pixels, where the same person is searched for in the next one.
    package var square: Bitmap.Square

    package static let pointCount = 33

    /// The names of the joints that models of actions take, in their order (`Skeleton.body`), with the points whose
    /// mean they are.
    package static let joints: [[Int]] = [
        [0], [11, 12], [12], [14], [16], [11], [13], [15], [24], [26], [28], [23], [25], [27], [5], [2], [8], [7],
    ]
    /// The points whose mean is the middle of the hips.
    package static let root = [23, 24]

    /// The mean of points; as certain as the least certain of them.
    package func joint(_ numbers: [Int]) -> Joint {
        let count = Double(numbers.count)
        return Joint(
            x: numbers.reduce(0) { $0 + points[$1].x } / count,
            y: numbers.reduce(0) { $0 + points[$1].y } / count,
            confidence: numbers.reduce(1) { min($0, points[$1].confidence) }
        )
    }
}

/// Finds bodies and their joints by MediaPipe's networks: persons first, then points in an upright square around each.
package struct BodyFinder: Sendable {
    /// The least confidence of a body.
    package static let minimumConfidence = 0.5
    /// The points of the network: 33 of the body, and six that say where to look next.
    private static let allPoints = 39
    /// The width and height of the network's heat map.
    private static let mapSize = 64

    private let detector: Detector
    private let landmarks: JointNetwork

    /// Loads the installed extractor `mediapipe-body`.
    ///
    /// - Throws: `.io`, with the command that installs it, if it is missing.
    package init(_ store: ExtractorStore) throws(ModelError) {
        let (extractor, folder) = (Extractor.mediaPipeBody, store.path(of: .mediaPipeBody))
        detector = Detector(
            try JointNetwork(store.load(extractor, model: "detector"), path: folder),
            grids: [(8, 2), (16, 2), (32, 6)],
            pointCount: 4
        )
        landmarks = try JointNetwork(store.load(extractor, model: "landmarks"), path: folder)
    }

    /// The bodies in an image, the most certain first.
    ///
    /// - Parameters:
    ///   - image: The image, upright.
    ///   - limit: The largest number of bodies.
    /// - Returns: The bodies with their joints.
    /// - Throws: The errors of the networks.
    package func bodies(in image: Bitmap, atMost limit: Int) throws(ModelError) -> [Body] {
        guard image.width > 0, image.height > 0, limit > 0 else { return [] }
        let image = image.converted(to: .rgba)
        let persons = try detector.detections(image, in: image.whole(), border: .zeros)
        var bodies: [Body] = []
        for person in persons.prefix(limit) {
            if let body = try body(in: Self.square(person.points[0], person.points[1]), of: image) {
                bodies.append(body)
            }
        }
        return bodies
    }

    /// The body in a square of an image; `nil` if none is there.
    package func body(in square: Bitmap.Square, of image: Bitmap) throws(ModelError) -> Body? {
        guard square.side > 0 else { return nil }
        let crop = image.square(square, size: landmarks.size, border: .nearest)
        let outputs = try landmarks.outputs(
            of: crop,
            [
                "landmarks": 5 * Self.allPoints, "presence": 1,
                "heatmap": Self.mapSize * Self.mapSize * Self.allPoints,
            ]
        )
        let (values, map) = (outputs["landmarks"] ?? [], outputs["heatmap"] ?? [])
        let presence = Double(outputs["presence"]?.first ?? 0)
        guard presence >= Self.minimumConfidence else { return nil }
        let size = Double(landmarks.size)
        let positions = (0..<Self.allPoints).map { index -> SIMD2<Double> in
            let stated = SIMD2(Double(values[5 * index]), Double(values[5 * index + 1])) / size
            let (x, y) = { square.position($0.x, $0.y) }(Self.refined(stated, map, index))
            return SIMD2(x, y)
        }
        let points = (0..<Body.pointCount).map { index in
            Joint(
                x: positions[index].x / Double(image.width),
                y: positions[index].y / Double(image.height),
                confidence: 1 / (1 + exp(-Double(values[5 * index + 3])))
            )
        }
        return Body(points: points, confidence: presence, square: Self.square(positions[33], positions[34]))
    }

    /// The square around a person, from the middle of the hips and a point at the distance of the farthest limb above.
    static func square(_ middle: SIMD2<Double>, _ end: SIMD2<Double>) -> Bitmap.Square {
        let offset = end - middle
        return Bitmap.Square(
            x: middle.x,
            y: middle.y,
            side: 1.25 * 2 * (offset * offset).sum().squareRoot(),
            rotation: uprightRotation(middle, end)
        )
    }

    /// A point, moved to the mean of the heat map around it where the map is certain.
    private static func refined(_ point: SIMD2<Double>, _ map: [Float], _ index: Int) -> SIMD2<Double> {
        let position = point * Double(mapSize)
        guard position.x >= 0, position.y >= 0, position.x < Double(mapSize), position.y < Double(mapSize) else {
            return point
        }
        let (column, row) = (Int(position.x), Int(position.y))
        var (sum, maximum, mean) = (0.0, 0.0, SIMD2<Double>.zero)
        for y in max(0, row - 3)..<min(mapSize, row + 4) {
            for x in max(0, column - 3)..<min(mapSize, column + 4) {
                let value = 1 / (1 + exp(-Double(map[(y * mapSize + x) * allPoints + index])))
                sum += value
                maximum = max(maximum, value)
                mean += value * SIMD2(Double(x), Double(y))
            }
        }
        return maximum < 0.5 || sum <= 0 ? point : mean / (sum * Double(mapSize))
    }
}
