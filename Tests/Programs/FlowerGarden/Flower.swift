import MLDrawing
import MLNumerics

/// A random number generator whose numbers follow from its seed (SplitMix64).
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// A kind of flower, as it is drawn on a meadow.
enum Flower: String, CaseIterable {
    case cornflower
    case daisy
    case poppy
    case sunflower

    /// How many petals, how broad, and the colours of petals and heart.
    private var shape: (petals: Int, breadth: Double, petal: Colour, heart: Colour) {
        switch self {
        case .cornflower: (9, 7, Colour(0.25, 0.35, 0.85), Colour(0.35, 0.15, 0.5))
        case .daisy: (14, 5, Colour(0.97, 0.97, 0.95), Colour(0.95, 0.8, 0.15))
        case .poppy: (4, 26, Colour(0.85, 0.15, 0.1), Colour(0.1, 0.08, 0.1))
        case .sunflower: (16, 8, Colour(0.98, 0.75, 0.05), Colour(0.35, 0.2, 0.05))
        }
    }

    /// A PNG picture of 96 × 96 pixels: somewhere on a meadow, in some size and light.
    func drawing(_ generator: inout Generator) throws -> [UInt8] {
        func random(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &generator) }
        let light = random(0.75...1)
        func lit(_ colour: Colour) -> Colour {
            Colour(
                min(colour.red * light + random(-0.05...0.05), 1),
                min(colour.green * light + random(-0.05...0.05), 1),
                min(colour.blue * light + random(-0.05...0.05), 1)
            )
        }
        let (petals, breadth, petal, heart) = shape
        let canvas = try Canvas(width: 48, height: 48, form: .png)
        let meadow = Colour(random(0.1...0.4), random(0.4...0.65), random(0.1...0.3))
        canvas.fill(x: 0, y: 0, width: 48, height: 48, lit(meadow))
        let size = random(0.55...0.95)
        let (x, y) = (random(19...29), random(19...29))
        let turn = random(0...6.28)
        for index in 0..<petals {
            let angle = turn + 2 * Double.pi * Double(index) / Double(petals)
            let reach = (breadth > 20 ? 8 : 16) * size * random(0.9...1.1)
            let tip = Canvas.Point(x + reach * cosine(angle), y + reach * sine(angle))
            canvas.stroke([Canvas.Point(x, y), tip], width: breadth * size, lit(petal))
        }
        canvas.dot([Canvas.Point(x, y)], width: (self == .sunflower ? 18 : 9) * size, lit(heart))
        return try canvas.bytes()
    }
}
