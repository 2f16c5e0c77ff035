import CTabular
import Foundation

/// A column, or the elements of a list, as a schema of the Arrow C data interface describes it.
struct ArrowField {
    let name: String
    let type: ArrowType
    let children: [ArrowField]

    /// The most levels of lists and structures in one another.
    private static let deepest = 16
    private static let maximumChildCount = 1 << 20

    /// - Throws: `ArrowError` for a format that is unknown or cannot be a column, naming the column.
    init(_ schema: UnsafePointer<ArrowSchema>, depth: Int = 0) throws(ArrowError) {
        let schema = schema.pointee
        name = schema.name.map { String(cString: $0) } ?? ""
        guard schema.release != nil else { throw .column(name, "has a schema that was released already") }
        guard let code = schema.format else { throw .column(name, "has a schema without a format") }
        guard depth < Self.deepest else {
            throw .column(name, "nests more than \(Self.deepest) lists or structures; flatten it")
        }
        let format = String(cString: code)
        var children: [ArrowField] = []
        guard (0...Int64(Self.maximumChildCount)).contains(schema.n_children) else {
            throw .column(name, "has a schema of \(schema.n_children) children")
        }
        for index in 0..<Int(schema.n_children) {
            guard let child = schema.children?[index] else {
                throw .column(name, "has a schema without child \(index), of \(schema.n_children)")
            }
            children.append(try ArrowField(child, depth: depth + 1))
        }
        self.children = children
        let type = try ArrowType(format: format, name: name, children: children.count)
        guard let values = schema.dictionary else {
            self.type = type
            return
        }
        guard case .integer = type else {
            throw .column(name, "has a dictionary whose indices are of the format '\(format)', no integers")
        }
        self.type = .dictionary(indices: type, values: try ArrowField(values, depth: depth + 1))
    }

    /// The field under another name, for messages about what lies in a column.
    init(_ name: String, like other: ArrowField) {
        self.name = name
        (type, children) = (other.type, other.children)
    }
}

/// The type of a column in Arrow, limited to the types that columns here can hold.
indirect enum ArrowType {
    case null, boolean
    case integer(bits: Int, isSigned: Bool)
    case half, float, double
    /// UTF-8 with offsets of 64 bits (`isWide`) or 32.
    case text(isWide: Bool)
    case textView
    /// Days since 1970 in 32 bits.
    case days
    /// A count since 1970 in 64 bits.
    case timestamp(perSecond: Double)
    case list(isWide: Bool)
    case fixedList(Int)
    case map, structure
    case dictionary(indices: ArrowType, values: ArrowField)

    init(format: String, name: String, children: Int) throws(ArrowError) {
        var expected = 0
        switch format {
        case "n": self = .null
        case "b": self = .boolean
        case "c": self = .integer(bits: 8, isSigned: true)
        case "C": self = .integer(bits: 8, isSigned: false)
        case "s": self = .integer(bits: 16, isSigned: true)
        case "S": self = .integer(bits: 16, isSigned: false)
        case "i": self = .integer(bits: 32, isSigned: true)
        case "I": self = .integer(bits: 32, isSigned: false)
        case "l": self = .integer(bits: 64, isSigned: true)
        case "L": self = .integer(bits: 64, isSigned: false)
        case "e": self = .half
        case "f": self = .float
        case "g": self = .double
        case "u": self = .text(isWide: false)
        case "U": self = .text(isWide: true)
        case "vu": self = .textView
        case "tdD": self = .days
        case "tdm": self = .timestamp(perSecond: 1e3)
        case "+l": (self, expected) = (.list(isWide: false), 1)
        case "+L": (self, expected) = (.list(isWide: true), 1)
        case "+m": (self, expected) = (.map, 1)
        case "+s": (self, expected) = (.structure, children)
        case _ where format.hasPrefix("+w:"):
            guard let count = Int(format.dropFirst(3)), count >= 0, count <= 1 << 31 else {
                throw .column(name, "has lists of the fixed size '\(format.dropFirst(3))', which is not a valid size")
            }
            (self, expected) = (.fixedList(count), 1)
        case _ where format.hasPrefix("ts"):
            let scales: [Substring: Double] = ["s": 1, "m": 1e3, "u": 1e6, "n": 1e9]
            guard let scale = scales[format.dropFirst(2).prefix(1)], format.dropFirst(3).first == ":" else {
                throw .column(name, "is of the unknown Arrow format '\(format)'")
            }
            self = .timestamp(perSecond: scale)
        default:
            throw .column(
                name,
                "is of Arrow's type \(Self.text(format)), which columns cannot hold; convert it to numbers, text, "
                    + "dates or lists of them, or leave it out"
            )
        }
        guard children == expected else {
            throw .column(name, "is of the format '\(format)' and has \(children) children; it must have \(expected)")
        }
    }

    /// A format as text, for messages.
    private static func text(_ format: String) -> String {
        let known: [(prefix: String, words: String)] = [
            ("d:", "decimal"), ("z", "binary"), ("Z", "large binary"), ("vz", "binary view"),
            ("w:", "fixed-size binary"),
            ("tt", "time of day"), ("tD", "duration"), ("ti", "interval"), ("+vl", "list view"), ("+vL", "list view"),
            ("+u", "union"), ("+r", "run-end encoded"),
        ]
        guard let found = known.first(where: { format.hasPrefix($0.prefix) }) else { return "'\(format)'" }
        return "\(found.words) ('\(format)')"
    }
}
