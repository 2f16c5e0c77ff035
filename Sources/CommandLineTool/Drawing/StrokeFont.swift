import Foundation

/// Letters as lines, for pictures on machines without fonts.
///
/// A glyph is drawn on a grid whose capitals are 12 units high: y is 0 at their top, 4 at that of small letters, 12 on the
/// line, 16 at the bottom of a g.
enum StrokeFont {
    /// The height of capitals in parts of a text's size, and what a unit of the grid is of it.
    static let unit = 0.06

    struct Glyph {
        var width: Double
        var strokes: [[(x: Double, y: Double)]]
    }

    /// What lies between two glyphs.
    private static let gap = 3.0

    /// The glyphs of a text, each with where it begins; in units of the grid.
    static func layout(_ text: String) -> (glyphs: [(x: Double, glyph: Glyph)], width: Double) {
        var x = 0.0
        var result: [(Double, Glyph)] = []
        for character in drawable(text) {
            let glyph = glyphs[character] ?? box
            result.append((x, glyph))
            x += glyph.width + gap
        }
        return (result, max(0, x - gap))
    }

    /// The width of a text of a size.
    static func width(_ text: String, size: Double) -> Double { layout(text).width * unit * size }

    /// The text in letters that there are: other scripts in Latin ones, without accents.
    static func drawable(_ text: String) -> String {
        if text.allSatisfy({ glyphs[$0] != nil }) { return text }
        return text.map { character -> String in
            if glyphs[character] != nil { return String(character) }
            let latin = String(character).applyingTransform(.toLatin, reverse: false) ?? String(character)
            return latin.folding(options: [.diacriticInsensitive, .widthInsensitive], locale: nil)
        }.joined()
    }

    /// Stands for characters that there is no glyph of.
    private static let box = glyph(6, "00600c", "606c0c", "000c")

    /// - Parameter strokes: points, x and y of each as a digit to base 17; after ~ the corners are rounded.
    private static func glyph(_ width: Double, _ strokes: String...) -> Glyph {
        Glyph(
            width: width,
            strokes: strokes.map { text in
                let values = text.drop { $0 == "~" }.map { Double($0.hexDigitValue ?? 16) }
                let points = stride(from: 0, to: values.count - 1, by: 2).map { (x: values[$0], y: values[$0 + 1]) }
                return text.hasPrefix("~") ? rounded(rounded(points)) : points
            }
        )
    }

    /// Cuts the corners of a line (Chaikin 1974); of a closed one all of them.
    private static func rounded(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        guard points.count > 2, let first = points.first, let last = points.last else { return points }
        var result: [(x: Double, y: Double)] = []
        for (a, b) in zip(points, points.dropFirst()) {
            result.append((0.75 * a.x + 0.25 * b.x, 0.75 * a.y + 0.25 * b.y))
            result.append((0.25 * a.x + 0.75 * b.x, 0.25 * a.y + 0.75 * b.y))
        }
        if first == last {
            result.append(result[0])
        } else {
            result[0] = first
            result[result.count - 1] = last
        }
        return result
    }

    private static let glyphs: [Character: Glyph] = [
        " ": glyph(3), "A": glyph(8, "0c408c", "1878"), "B": glyph(8, "0c00", "~00707606", "~06868c0c"),
        "C": glyph(8, "~826020020a2c6c8a"), "D": glyph(8, "0c00", "~005083895c0c"), "E": glyph(7, "70000c7c", "0666"),
        "F": glyph(7, "70000c", "0666"), "G": glyph(8, "~826020020a2c6c8a", "8a8757"),
        "H": glyph(8, "000c", "808c", "0686"), "I": glyph(0, "000c"), "J": glyph(6, "~606a5c1c0a"),
        "K": glyph(8, "000c", "8007", "358c"), "L": glyph(7, "000c7c"), "M": glyph(9, "0c0058909c"),
        "N": glyph(8, "0c008c80"), "O": glyph(8, "~40808c0c0040"), "P": glyph(8, "0c00", "~00808707"),
        "Q": glyph(8, "~40808c0c0040", "598d"), "R": glyph(8, "0c00", "~00808707", "478c"),
        "S": glyph(8, "~82602002042666888a6c2c0a"), "T": glyph(8, "0080", "404c"), "U": glyph(8, "~000a2c6c8a80"),
        "V": glyph(8, "004c80"), "W": glyph(10, "002c518ca0"), "X": glyph(8, "008c", "800c"),
        "Y": glyph(8, "004680", "464c"), "Z": glyph(8, "00800c8c"),
        "a": glyph(7, "~765424060a2c5c7a", "747c"), "b": glyph(7, "000c", "~062454767a5c2c0a"),
        "c": glyph(7, "~765424060a2c5c7a"), "d": glyph(7, "707c", "~765424060a2c5c7a"),
        "e": glyph(7, "0878", "~78765424060a2c5c7b"), "f": glyph(5, "~5030222c", "0454"),
        "g": glyph(7, "~765424060a2c5c7a", "~747e5g2g0f"), "h": glyph(7, "000c", "~062454767c"),
        "i": glyph(0, "040c", "0000"), "j": glyph(2, "~242e1g0g", "2020"), "k": glyph(6, "000c", "6409", "276c"),
        "l": glyph(0, "000c"), "m": glyph(10, "040c", "~061444565c", "~566494a6ac"),
        "n": glyph(7, "040c", "~062454767c"), "o": glyph(7, "~44747c0c0444"),
        "p": glyph(7, "040g", "~062454767a5c2c0a"), "q": glyph(7, "747g", "~765424060a2c5c7a"),
        "r": glyph(5, "040c", "~072454"), "s": glyph(6, "~654424050628486a6b4c2c0b"),
        "t": glyph(5, "~212a3c5c", "0454"), "u": glyph(7, "~040a2c5c7a", "747c"), "v": glyph(6, "043c64"),
        "w": glyph(10, "042c558ca4"), "x": glyph(6, "046c", "640c"), "y": glyph(6, "043c", "642f0g"),
        "z": glyph(6, "04640c6c"),
        "0": glyph(7, "~40707c0c0040"), "1": glyph(4, "03404c"), "2": glyph(7, "~02205072750c", "0c7c"),
        "3": glyph(7, "~01205072745636", "~3656787a5c2c0b"), "4": glyph(8, "6c600888"),
        "5": glyph(7, "701005", "~052454767a5c2c0b"), "6": glyph(7, "~614020030a2c5c7a77552507"),
        "7": glyph(7, "00702c"), "8": glyph(7, "~406066161040", "~46767c0c0646"),
        "9": glyph(7, "~1b3c5c797250200205275775"),
        ".": glyph(0, "0c0c"), ",": glyph(1, "1b0e"), ":": glyph(0, "0606", "0c0c"), ";": glyph(1, "1616", "1b0e"),
        "!": glyph(0, "0008", "0c0c"), "?": glyph(6, "~02204062643839", "3c3c"), "'": glyph(0, "0003"),
        "’": glyph(1, "1003"), "\"": glyph(3, "0003", "3033"), "`": glyph(2, "0023"), "-": glyph(5, "0858"),
        "–": glyph(7, "0878"), "—": glyph(10, "08a8"), "_": glyph(8, "0e8e"), "+": glyph(6, "0868", "353b"),
        "=": glyph(6, "0666", "0a6a"), "*": glyph(4, "2026", "0145", "0541"), "/": glyph(6, "600d"),
        "\\": glyph(6, "006d"), "(": glyph(2, "~20040a2e"), ")": glyph(2, "~00242a0e"), "[": glyph(2, "20000e2e"),
        "]": glyph(2, "00202e0e"), "{": glyph(3, "30101607181e3e"), "}": glyph(3, "00202637282e0e"),
        "|": glyph(0, "000f"), "<": glyph(6, "64086c"), ">": glyph(6, "04680c"), "^": glyph(6, "043064"),
        "~": glyph(6, "~09274a67"), "%": glyph(9, "900c", "~204044040020", "~78989c5c5878"),
        "&": glyph(8, "~8c2421406163080a2c5c88"), "#": glyph(8, "301c", "705c", "0484", "0888"),
        "@": glyph(10, "~8c3c09033070a3a88978", "~547478383454"),
        "$": glyph(8, "~82602002042666888a6c2c0a", "404c"), "→": glyph(9, "0898", "65986b"),
        "×": glyph(6, "056b", "650b"), "·": glyph(0, "0808"), "…": glyph(6, "0c0c", "3c3c", "6c6c"),
    ]
}
