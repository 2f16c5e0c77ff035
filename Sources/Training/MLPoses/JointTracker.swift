package import MLImages
package import MLNumerics

/// Follows one hand through successive images.
package struct HandTracker: Sendable {
    private let finder: HandFinder
    private var last: SIMD2<Double>?

    package init(_ finder: HandFinder) { self.finder = finder }

    /// The hand in the next image: first the most certain one, then the one nearest to where it was last; `nil` if
    /// none is found.
    package mutating func next(_ image: Bitmap) throws(ModelError) -> Hand? {
        let hands = try finder.hands(in: image, atMost: 2)
        func centre(_ hand: Hand) -> SIMD2<Double> {
            hand.joints.reduce(.zero) { $0 + SIMD2($1.x, $1.y) } / Double(hand.joints.count)
        }
        func distance(_ hand: Hand, _ position: SIMD2<Double>) -> Double {
            let offset = centre(hand) - position
            return (offset * offset).sum()
        }
        let chosen = last.map { position in hands.min { distance($0, position) < distance($1, position) } }
        guard let hand = chosen ?? hands.first else { return nil }
        last = centre(hand)
        return hand
    }
}

/// Follows one person through successive images.
package struct BodyTracker: Sendable {
    private let finder: BodyFinder
    /// Where the person is searched for first.
    private var square: Bitmap.Square?
    private var filter = SquareFilter()

    package init(_ finder: BodyFinder) { self.finder = finder }

    /// The person in the next image; `nil` if none is found.
    ///
    /// The person's last position is searched first, then the whole image: for the most certain person at the
    /// beginning, later for the one nearest to the last position.
    package mutating func next(_ image: Bitmap) throws(ModelError) -> Body? {
        let image = image.converted(to: .rgba)
        if let square, let body = try finder.body(in: square, of: image) {
            self.square = filter.next(body.square)
            return body
        }
        func distance(_ body: Body) -> Double {
            guard let square else { return 0 }
            let (right, down) = (body.square.x - square.x, body.square.y - square.y)
            return right * right + down * down
        }
        let bodies = try finder.bodies(in: image, atMost: square == nil ? 1 : 8)
        guard let body = bodies.min(by: { distance($0) < distance($1) }) else { return nil }
        filter = SquareFilter()
        square = filter.next(body.square)
        return body
    }
}

/// Steadies the square around a person: MediaPipe's One Euro filter of the square's middle and of a point above it, for
/// 30 images a second.
///
/// The less these points move, the more they are smoothed: a person at rest is seen in the same square in every image.
package struct SquareFilter: Sendable {
    private static let rate = 30.0
    private var found: SIMD4<Double>?
    private var smoothed = SIMD4<Double>.zero
    /// The smoothed speed in sizes of the body a second.
    private var speed = SIMD4<Double>.zero

    package init() {}

    package mutating func next(_ square: Bitmap.Square) -> Bitmap.Square {
        let end = square.position(0.5, 0.1)
        let points = SIMD4(square.x, square.y, end.x, end.y)
        let size = 0.8 * square.side
        guard let last = found, size > 0 else {
            (found, smoothed, speed) = (points, points, .zero)
            return square
        }
        speed += (((points - last) / size * Self.rate) - speed) * Self.weight(1)
        for index in points.indices {
            smoothed[index] += (points[index] - smoothed[index]) * Self.weight(0.01 + 10 * abs(speed[index]))
        }
        found = points
        return BodyFinder.square(smoothed.lowHalf, smoothed.highHalf)
    }

    /// The weight of a new value that lets frequencies below `cutoff`, in Hz, pass.
    private static func weight(_ cutoff: Double) -> Double { 1 / (1 + rate / (2 * .pi * cutoff)) }
}
