import CDrawing

/// A drawing colour; its components range from 0 to 1.
package struct Colour: Hashable, Sendable {
    package var red: Double
    package var green: Double
    package var blue: Double
    package var opacity = 1.0

    package init(_ red: Double, _ green: Double, _ blue: Double) {
        (self.red, self.green, self.blue) = (red, green, blue)
    }

    package static let black = Colour(0.13, 0.13, 0.13)
    package static let grey = Colour(0.42, 0.42, 0.42)
    package static let light = Colour(0.88, 0.88, 0.88)
    package static let white = Colour(1, 1, 1)

    // Wong's colours, which are distinguishable with red-green colour blindness (Nature Methods 8, 441, 2011).
    package static let blue = Colour(0, 0.447, 0.698)
    package static let vermilion = Colour(0.835, 0.369, 0)
    package static let green = Colour(0, 0.62, 0.451)
    package static let purple = Colour(0.8, 0.475, 0.655)

    /// The colours of a plot's series.
    package static let series = [blue, vermilion, green, purple]

    /// This colour on white, with opacity `share`.
    package func faded(to share: Double) -> Colour {
        Colour(1 - (1 - red) * share, 1 - (1 - green) * share, 1 - (1 - blue) * share)
    }

    /// The interpolation between this colour, at 0, and another, at 1.
    package func mixed(_ share: Double, with other: Colour) -> Colour {
        func mix(_ path: KeyPath<Colour, Double>) -> Double {
            self[keyPath: path] + (other[keyPath: path] - self[keyPath: path]) * share
        }
        return Colour(mix(\.red), mix(\.green), mix(\.blue))
    }

    package func opacity(_ opacity: Double) -> Colour {
        var result = self
        result.opacity = opacity
        return result
    }

    /// The perceived brightness, 0 to 1.
    package var brightness: Double { 0.299 * red + 0.587 * green + 0.114 * blue }

    var shade: cdr_colour { cdr_colour(red: red, green: green, blue: blue, alpha: opacity) }
}
