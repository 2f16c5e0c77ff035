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
    private var last: Body?

    package init(_ finder: BodyFinder) { self.finder = finder }

    /// The person in the next image; `nil` if none is found.
    ///
    /// The person's last position is searched first, then the whole image: for the most certain person at the
    /// beginning, later for the one nearest to the last position.
    package mutating func next(_ image: Bitmap) throws(ModelError) -> Body? {
        let image = image.converted(to: .rgba)
        guard let last else {
            self.last = try finder.bodies(in: image, atMost: 1).first
            return self.last
        }
        if let body = try finder.body(in: last.square, of: image) {
            self.last = body
            return body
        }
        func distance(_ body: Body) -> Double {
            let (right, down) = (body.square.x - last.square.x, body.square.y - last.square.y)
            return right * right + down * down
        }
        guard let body = try finder.bodies(in: image, atMost: 8).min(by: { distance($0) < distance($1) }) else {
            return nil
        }
        self.last = body
        return body
    }
}
