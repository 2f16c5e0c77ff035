package import MLGraph
import MLKernels
package import MLNumerics
import MLSpecification

/// The treatment of indices out of range.
///
/// Up to iOS 16 an index counts from the end when negative. From iOS 17 on operations with `validate_indices` report
/// every index out of range; without it the result is undefined but safe: indices count from the end when negative and
/// are clamped, but `Scatter` skips them.
package struct IndexRule: Hashable, Sendable, Codable {
    package var isValidated: Bool

    package init(isValidated: Bool = false) { self.isValidated = isValidated }

    package init(reading arguments: inout Arguments) throws(ModelError) {
        isValidated = try arguments.bool("validate_indices", default: false)
    }

    /// The position on an axis of `extent` elements (at least 1) that `index` refers to.
    package func position(_ index: Int, extent: Int) throws(ModelError) -> Int {
        if isValidated, !(0..<extent).contains(index) {
            throw ModelError(.invalidInput, "index \(index) does not exist on an axis of \(extent) elements")
        }
        return nearest(index, extent: extent)
    }

    /// Throws when indices are validated and one of `count` in the int32 operand `operand` is out of range.
    func check(_ context: KernelContext, operand: Int, count: Int, extent: Int) throws(ModelError) {
        guard isValidated,
            let outside = IndexCheck.firstOutOfRange(context.integers(operand), count: count, extent: extent)
        else { return }
        _ = try position(outside, extent: extent)
    }

    /// The same without an error: an index out of range is clamped.
    package func nearest(_ index: Int, extent: Int) -> Int {
        min(max(index < 0 ? index + extent : index, 0), max(extent - 1, 0))
    }
}

/// The combination of a scattered element with the existing one.
package enum ScatterMode: String, Hashable, Sendable, Codable {
    case update, add, sub, mul, div, max, min

    package init(reading arguments: inout Arguments) throws(ModelError) {
        let name = try arguments.string("mode", default: ScatterMode.add.rawValue)
        guard let mode = ScatterMode(rawValue: name) else {
            throw ModelError(
                .invalidModel,
                "'\(name)' is not a mode of '\(arguments.operationName)'; use update, add, sub, mul, div, max or min"
            )
        }
        self = mode
    }

    package func callAsFunction(_ old: Double, _ new: Double) -> Double {
        switch self {
        case .update: new
        case .add: old + new
        case .sub: old - new
        case .mul: old * new
        case .div: old / new
        case .max: Swift.max(old, new)
        case .min: Swift.min(old, new)
        }
    }
}

extension ScatterMode {
    init(_ mode: SpecScatterMode) throws(ModelError) {
        switch mode {
        case .scatterUpdate: self = .update
        case .scatterAdd: self = .add
        case .scatterSub: self = .sub
        case .scatterMul: self = .mul
        case .scatterDiv: self = .div
        case .scatterMax: self = .max
        case .scatterMin: self = .min
        case .UNRECOGNIZED(let value): throw ModelError(.unsupported, "scatter mode \(value) is not known")
        }
    }
}

extension LayerContext {
    /// Inputs: data, indices, updates.
    mutating func scatter(_ op: some Operator) throws(ModelError) {
        let indices = try integers(input(1))
        try finish(try add(op, input(0), indices, input(2)))
    }
}
