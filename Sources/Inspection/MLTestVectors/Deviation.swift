package import MLFeatures
import MLNumerics

/// A mismatch between an output and its expected value.
package struct Deviation: Sendable, Equatable {
    package let output: String
    /// A sentence that describes the mismatch.
    package let message: String
    /// The place of the largest deviation: indices of an array, the key of a dictionary, or row, column and component
    /// of an image.
    package let location: String
    package let expected: String
    package let got: String
    /// The number of values outside their tolerance, and the number of values.
    package let wrong: Int
    package let count: Int

    init(
        _ output: String,
        _ message: String,
        location: String = "",
        expected: String,
        got: String,
        wrong: Int = 1,
        of count: Int = 1
    ) {
        self.output = output
        self.message = message
        self.location = location
        self.expected = expected
        self.got = got
        self.wrong = wrong
        self.count = count
    }
}

/// Compares a model's outputs with expected values.
package struct OutputComparison: Sendable {
    private let tolerances: ToleranceTable

    package init(_ tolerances: ToleranceTable) { self.tolerances = tolerances }

    /// - Returns: The mismatch; `nil` when the output is as expected.
    package func deviation(of output: String, _ got: FeatureData, from expected: ExpectedValue) -> Deviation? {
        switch (expected, got) {
        case (.scores(let labels, let values), .dictionary(let dictionary)):
            return compare(output, dictionary.byName, Dictionary(zip(labels, values)) { $1 })
        case (.value(let expected), _): return compare(output, got, expected)
        case (.scores, _): return typeMismatch(output, got, expected.kind)
        }
    }

    private func compare(_ output: String, _ got: FeatureData, _ expected: FeatureData) -> Deviation? {
        switch (got, expected) {
        case (.string(let got), .string(let expected)):
            return got == expected ? nil : Deviation(output, "another text", expected: expected, got: got)
        case (.int64(let got), .int64(let expected)): return integers(output, got, expected)
        case (.int64(let got), .double(let expected)):
            guard let whole = Int64(exactly: expected) else {
                return Deviation(output, "an integer", expected: "\(expected)", got: "\(got)")
            }
            return integers(output, got, whole)
        case (.double(let got), .int64(let expected)): return numbers(output, [got], [Double(expected)]) { _ in "" }
        case (.double(let got), .double(let expected)): return numbers(output, [got], [expected]) { _ in "" }
        case (.double(let got), .tensor(let expected)) where expected.count == 1 && expected.scalarType != .string:
            return numbers(output, [got], expected.values) { _ in "" }
        case (.int64(let got), .tensor(let expected)) where expected.count == 1 && expected.scalarType != .string:
            return integers(output, got, Int64(expected.integers[0]))
        case (.string(let got), .tensor(let expected)) where expected.count == 1 && expected.scalarType == .string:
            let text = expected.strings[0]
            return got == text ? nil : Deviation(output, "another text", expected: text, got: got)
        case (.tensor(let got), .tensor(let expected)): return arrays(output, got, expected)
        case (.tensor(let got), .double(let expected)) where got.count == 1 && got.scalarType != .string:
            return numbers(output, got.values, [expected], isInteger: !got.scalarType.isFloat) { _ in "" }
        case (.tensor(let got), .int64(let expected)) where got.count == 1 && got.scalarType != .string:
            return numbers(output, got.values, [Double(expected)], isInteger: !got.scalarType.isFloat) { _ in "" }
        case (.dictionary(let got), .dictionary(let expected)): return compare(output, got.byName, expected.byName)
        case (.sequence(let got), .sequence(let expected)): return sequences(output, got.texts, expected.texts)
        case (.image(let got), .image(let expected)): return pictures(output, got, expected)
        default: return typeMismatch(output, got, expected.kind)
        }
    }

    private func typeMismatch(_ output: String, _ got: FeatureData, _ expected: String) -> Deviation {
        Deviation(output, "another kind of value", expected: expected, got: got.kind)
    }

    private func integers(_ output: String, _ got: Int64, _ expected: Int64) -> Deviation? {
        if let own = tolerances.outputs[output], own.allows(Double(got), for: Double(expected)) { return nil }
        return got == expected ? nil : Deviation(output, "another number", expected: "\(expected)", got: "\(got)")
    }

    // MARK: Arrays

    private func arrays(_ output: String, _ got: Tensor, _ expected: Tensor) -> Deviation? {
        guard got.shape.filter({ $0 != 1 }) == expected.shape.filter({ $0 != 1 }) else {
            return Deviation(output, "another shape", expected: "\(expected.shape)", got: "\(got.shape)")
        }
        guard (got.scalarType == .string) == (expected.scalarType == .string) else {
            return typeMismatch(output, .tensor(got), FeatureData.tensor(expected).kind)
        }
        if got.scalarType == .string { return sequences(output, got.strings, expected.strings) }
        let isInteger = !got.scalarType.isFloat
        return numbers(output, got.values, expected.values, isInteger: isInteger) { index in
            "\(Self.location(index, in: got.shape))"
        }
    }

    /// The indices of the element `index` on each axis.
    private static func location(_ index: Int, in shape: [Int]) -> [Int] {
        var remaining = index
        var location: [Int] = []
        for extent in shape.reversed() {
            location.append(remaining % max(extent, 1))
            remaining /= max(extent, 1)
        }
        return location.reversed()
    }

    private func numbers(
        _ output: String,
        _ got: [Double],
        _ expected: [Double],
        isInteger: Bool = false,
        location: (Int) -> String
    ) -> Deviation? {
        guard got.count == expected.count else {
            return Deviation(
                output,
                "another number of values",
                expected: "\(expected.count)",
                got: "\(got.count)"
            )
        }
        let tolerance = tolerances.tolerance(of: output, isInteger: isInteger)
        var wrong = 0
        var worst: (index: Int, excess: Double)?
        for index in got.indices where !tolerance.allows(got[index], for: expected[index]) {
            wrong += 1
            let excess = Self.excess(got[index], expected[index], tolerance)
            if excess > worst?.excess ?? -1 { worst = (index, excess) }
        }
        guard let worst else { return nil }
        let (value, target) = (got[worst.index], expected[worst.index])
        let distance = abs(value - target)
        return Deviation(
            output,
            distance.isFinite
                ? "off by \(Self.text(distance)), where \(Self.text(tolerance.absolute + tolerance.relative * abs(target))) "
                    + "is allowed"
                : "not the same kind of number",
            location: location(worst.index),
            expected: Self.text(target),
            got: Self.text(value),
            wrong: wrong,
            of: got.count
        )
    }

    /// The deviation in units of the tolerance; infinite where either number is not finite.
    private static func excess(_ got: Double, _ expected: Double, _ tolerance: Tolerance) -> Double {
        let distance = abs(got - expected)
        guard distance.isFinite else { return .infinity }
        let allowed = tolerance.absolute + tolerance.relative * abs(expected)
        return allowed > 0 ? distance / allowed : distance
    }

    static func text(_ value: Double) -> String {
        if value == value.rounded(), abs(value) < 1e15 { return "\(Int64(value))" }
        return Float(value).description
    }

    private func sequences(_ output: String, _ got: [String], _ expected: [String]) -> Deviation? {
        guard got.count == expected.count else {
            return Deviation(output, "another length", expected: "\(expected.count)", got: "\(got.count)")
        }
        let wrong = got.indices.filter { got[$0] != expected[$0] }
        guard let first = wrong.first else { return nil }
        return Deviation(
            output,
            "another element",
            location: "[\(first)]",
            expected: expected[first],
            got: got[first],
            wrong: wrong.count,
            of: got.count
        )
    }

    private func compare(_ output: String, _ got: [String: Double], _ expected: [String: Double]) -> Deviation? {
        let keys = got.keys.sorted()
        guard Set(keys) == Set(expected.keys) else {
            let missing = Set(expected.keys).subtracting(keys).sorted()
            let extra = Set(keys).subtracting(expected.keys).sorted()
            func keyList(_ keys: [String]) -> String {
                keys.isEmpty ? "none more" : keys.prefix(5).joined(separator: ", ") + (keys.count > 5 ? ", …" : "")
            }
            return Deviation(
                output,
                "other keys",
                expected: keyList(missing),
                got: keyList(extra),
                wrong: missing.count + extra.count,
                of: expected.count
            )
        }
        return numbers(output, keys.map { got[$0] ?? .nan }, keys.map { expected[$0] ?? .nan }) { "'\(keys[$0])'" }
    }

    // MARK: Pictures

    private func pictures(_ output: String, _ got: ImageBuffer, _ expected: ImageBuffer) -> Deviation? {
        guard got.width == expected.width, got.height == expected.height else {
            return Deviation(
                output,
                "another size",
                expected: "\(expected.width) × \(expected.height)",
                got: "\(got.width) × \(got.height)"
            )
        }
        let tolerance = tolerances.images ?? .standard
        let components = got.isGray && expected.isGray ? 1 : 3
        var (sum, maximum, location, wrong) = (0.0, -1.0, (0, 0, 0), 0)
        for row in 0..<got.height {
            for column in 0..<got.width {
                for component in 0..<components {
                    let distance = abs(
                        got.level(row, column, component) - expected.level(row, column, component)
                    )
                    sum += distance.isNaN ? .infinity : distance
                    if !(distance <= tolerance.maximum) { wrong += 1 }
                    if !(distance <= maximum) { (maximum, location) = (distance, (row, column, component)) }
                }
            }
        }
        let count = got.width * got.height * components
        let mean = count == 0 ? 0 : sum / Double(count)
        guard !(maximum <= tolerance.maximum) || mean > tolerance.mean else { return nil }
        let names = components == 1 ? ["grey"] : ["red", "green", "blue"]
        return Deviation(
            output,
            "off by \(Self.text(maximum)) levels at most and \(Self.text((mean * 1000).rounded() / 1000)) on average, where "
                + "\(Self.text(tolerance.maximum)) and \(Self.text(tolerance.mean)) are allowed",
            location: "row \(location.0), column \(location.1), \(names[location.2])",
            expected: Self.text(expected.level(location.0, location.1, location.2)),
            got: Self.text(got.level(location.0, location.1, location.2)),
            wrong: wrong,
            of: count
        )
    }
}

extension FeatureDictionary {
    /// The numbers by their keys' text.
    var byName: [String: Double] {
        switch self {
        case .strings(let values): values
        case .integers(let values): [String: Double](uniqueKeysWithValues: values.map { ("\($0)", $1) })
        }
    }
}

extension FeatureSequence {
    var texts: [String] {
        switch self {
        case .strings(let values): values
        case .integers(let values): values.map { "\($0)" }
        }
    }
}

extension ImageBuffer {
    var isGray: Bool { format == .gray8 || format == .gray16Float }

    /// The level, 0 to 255, of red, green or blue; for a grey image always grey.
    func level(_ row: Int, _ column: Int, _ component: Int) -> Double {
        let pixel = address + row * bytesPerRow + column * format.bytesPerPixel
        func byte(_ offset: Int) -> Double { Double(pixel.load(fromByteOffset: offset, as: UInt8.self)) }
        switch format {
        case .rgba8, .rgb8: return byte(component)
        case .bgra8: return byte(2 - component)
        case .argb8: return byte(1 + component)
        case .gray8: return byte(0)
        case .gray16Float: return Double(pixel.loadUnaligned(as: Float16.self))
        }
    }
}
