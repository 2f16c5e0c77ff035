/// One extent of a shape: a count, or unknown until the values that determine it are known.
///
/// Arithmetic with an unknown extent is unknown, so a type rule is written once and serves both the flexible graph and
/// the graph bound to concrete shapes.
package struct Dimension: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    private let raw: Int

    package static let unknown = Dimension(raw: Int.min)

    private init(raw: Int) { self.raw = raw }
    package init(_ count: Int) { raw = count }
    package init(integerLiteral value: Int) { raw = value }

    /// The extent, `nil` while unknown.
    package var count: Int? { raw == Int.min ? nil : raw }
    package var isKnown: Bool { raw != Int.min }
    package var description: String { count.map(String.init) ?? "?" }

    package func map(_ transform: (Int) -> Int) -> Dimension { count.map { Dimension(transform($0)) } ?? .unknown }

    package static func + (a: Dimension, b: Dimension) -> Dimension { combine(a, b, &+) }
    package static func - (a: Dimension, b: Dimension) -> Dimension { combine(a, b, &-) }
    package static func * (a: Dimension, b: Dimension) -> Dimension {
        a.raw == 0 || b.raw == 0 ? 0 : combine(a, b) { $0.multipliedReportingOverflow(by: $1).partialValue }
    }

    private static func combine(_ a: Dimension, _ b: Dimension, _ function: (Int, Int) -> Int) -> Dimension {
        guard let x = a.count, let y = b.count else { return .unknown }
        return Dimension(function(x, y))
    }
}

/// The extents of a tensor type, outermost first.
package typealias Shape = [Dimension]

extension Array where Element == Dimension {
    package init(_ counts: [Int]) { self = counts.map { Dimension($0) } }

    /// All extents as numbers; `nil` when one is unknown.
    package var counts: [Int]? {
        var result: [Int] = []
        result.reserveCapacity(count)
        for dimension in self {
            guard let extent = dimension.count else { return nil }
            result.append(extent)
        }
        return result
    }

    package var elementCount: Dimension { reduce(1, *) }
}

extension Array where Element == Int {
    /// The number of elements of a shape.
    package var elementCount: Int { reduce(1, *) }

    /// Row-major strides, in elements, of a shape.
    package var rowMajorStrides: [Int] {
        var strides = [Int](repeating: 1, count: count)
        for axis in stride(from: count - 2, through: 0, by: -1) { strides[axis] = strides[axis + 1] * self[axis + 1] }
        return strides
    }
}

/// Written as a number, or null while unknown.
extension Dimension: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .unknown : Dimension(try container.decode(Int.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let count { try container.encode(count) } else { try container.encodeNil() }
    }
}
