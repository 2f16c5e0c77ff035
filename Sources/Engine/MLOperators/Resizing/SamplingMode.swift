import MLGraph
import MLNumerics
import MLSpecification

/// The sampling positions of a resized axis: positions between a first and a last element.
///
/// With a = first, b = last, and n positions i = 0 ..< n; every position is clamped to a … b.
package enum SamplingMode: String, Hashable, Sendable, Codable {
    /// a + i · (b − a) / (n − 1); a single position is a.
    case strictAlignCorners = "STRICT_ALIGN_CORNERS"
    /// The same, but a single position is the middle.
    case alignCorners = "ALIGN_CORNERS"
    /// a + i · (b − a + 1) / n.
    case standard = "DEFAULT"
    /// a + (i + ½) · max(1, b − a) / n.
    case offsetCorners = "OFFSET_CORNERS"
    /// a + (i + ½) · (b − a + 1) / n − ½.
    case unalignCorners = "UNALIGN_CORNERS"

    init(reading arguments: inout Arguments) throws(ModelError) {
        let name = try arguments.string("sampling_mode", default: "DEFAULT").uppercased()
        guard let mode = SamplingMode(rawValue: name) else {
            throw ModelError(.unsupported, "sampling_mode '\(name)' is not known")
        }
        self = mode
    }

    /// The `count` positions between `first` and `last`, which may be the smaller one.
    func positions(first: Double, last: Double, count: Int) -> [Double] {
        let sign = last < first ? -1.0 : 1.0
        let span = abs(last - first)
        let n = Double(count)
        return (0..<count).map { index in
            let i = Double(index)
            let step: Double =
                switch self {
                case .strictAlignCorners: count == 1 ? 0 : i * span / (n - 1)
                case .alignCorners: count == 1 ? span / 2 : i * span / (n - 1)
                case .standard: i * (span + 1) / n
                case .offsetCorners: (i + 0.5) * Swift.max(1, span) / n
                case .unalignCorners: (i + 0.5) * (span + 1) / n - 0.5
                }
            return first + sign * Swift.min(Swift.max(step, 0), span)
        }
    }
}

extension SamplingMode {
    init(_ mode: SpecSamplingMode) throws(ModelError) {
        switch mode.samplingMethod {
        case .strictAlignEndpointsMode: self = .strictAlignCorners
        case .alignEndpointsMode: self = .alignCorners
        case .upsampleMode: self = .standard
        case .roiAlignMode: self = .offsetCorners
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "sampling mode \(value) is not known")
        }
    }
}

/// The resizing of one axis: each result is a mixture of two source elements.
package struct AxisSampling: Sendable {
    package private(set) var lower: [Int] = []
    package private(set) var upper: [Int] = []
    /// The weight of `upper`.
    package private(set) var weight: [Double] = []

    /// Linear interpolation at `positions`, each between 0 and `extent` − 1.
    package init(linear positions: [Double], extent: Int) {
        for position in positions {
            let floor = position.rounded(.down)
            let index = Swift.min(Swift.max(Int(floor), 0), extent - 1)
            lower.append(index)
            upper.append(Swift.min(index + 1, extent - 1))
            weight.append(position - floor)
        }
    }

    /// Nearest neighbours at `indices`.
    package init(nearest indices: [Int], extent: Int) {
        lower = indices.map { Swift.min(Swift.max($0, 0), extent - 1) }
        upper = lower
        weight = indices.map { _ in 0 }
    }

    /// `values` of `shape` with axis `axis` resized.
    package func resizing(_ values: [Double], shape: [Int], axis: Int) -> [Double] {
        let inner = shape.dropFirst(axis + 1).reduce(1, *)
        let outer = shape.prefix(axis).reduce(1, *)
        var result: [Double] = []
        result.reserveCapacity(outer * lower.count * inner)
        for block in 0..<outer {
            let start = block * shape[axis] * inner
            for position in lower.indices {
                let a = start + lower[position] * inner
                let b = start + upper[position] * inner
                let weight = weight[position]
                for index in 0..<inner {
                    result.append(
                        weight == 0 ? values[a + index] : values[a + index] * (1 - weight) + values[b + index] * weight
                    )
                }
            }
        }
        return result
    }
}
