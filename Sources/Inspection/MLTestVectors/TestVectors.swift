package import MLFeatures

/// Stored pairs of inputs and expected outputs, for testing a model before it ships.
package struct TestVectors: Sendable {
    package var cases: [TestCase]
    /// The tolerances that the file states; those for named outputs take precedence.
    package var tolerances: ToleranceTable

    package init(cases: [TestCase], tolerances: ToleranceTable = ToleranceTable()) {
        self.cases = cases
        self.tolerances = tolerances
    }
}

/// Successive predictions with one state; a single one for a stateless model.
package struct TestCase: Sendable {
    package var name: String
    package var steps: [TestStep]

    package init(name: String, steps: [TestStep]) {
        self.name = name
        self.steps = steps
    }
}

/// One prediction: the inputs, and the expected values of some or all outputs.
package struct TestStep: Sendable {
    package var inputs: [String: FeatureData]
    package var outputs: [String: ExpectedValue]

    package init(inputs: [String: FeatureData], outputs: [String: ExpectedValue]) {
        self.inputs = inputs
        self.outputs = outputs
    }
}

/// The expected value of an output.
package enum ExpectedValue: Sendable {
    case value(FeatureData)
    /// The numbers of a dictionary in the order of its labels.
    case scores(labels: [String], values: [Double])

    /// The kind of value, for messages.
    package var kind: String {
        switch self {
        case .value(let data): data.kind
        case .scores(let labels, _): "a dictionary of \(labels.count)"
        }
    }
}

/// The tolerance of a number: |got − expected| ≤ absolute + relative · |expected|.
package struct Tolerance: Sendable, Equatable {
    package var absolute: Double
    package var relative: Double

    package init(absolute: Double, relative: Double) {
        self.absolute = absolute
        self.relative = relative
    }

    /// Wide enough for a half-precision model, narrow enough to notice a wrong weight.
    package static let standard = Tolerance(absolute: 1e-3, relative: 1e-3)
    package static let exact = Tolerance(absolute: 0, relative: 0)

    package func allows(_ got: Double, for expected: Double) -> Bool {
        if got.isNaN || expected.isNaN { return got.isNaN && expected.isNaN }
        if got == expected { return true }
        guard got.isFinite, expected.isFinite else { return false }
        return abs(got - expected) <= absolute + relative * abs(expected)
    }
}

/// The tolerance of an image's levels (0 to 255).
package struct ImageTolerance: Sendable, Equatable {
    /// The maximum deviation of any component.
    package var maximum: Double
    /// The maximum mean deviation.
    package var mean: Double

    package init(maximum: Double, mean: Double) {
        self.maximum = maximum
        self.mean = mean
    }

    package static let standard = ImageTolerance(maximum: 4, mean: 0.5)
}

/// The tolerances of a run.
package struct ToleranceTable: Sendable, Equatable {
    /// The tolerance of all numbers; `nil` when it is not stated.
    package var all: Tolerance?
    /// The tolerances of outputs by name.
    package var outputs: [String: Tolerance]
    package var images: ImageTolerance?

    package init(all: Tolerance? = nil, outputs: [String: Tolerance] = [:], images: ImageTolerance? = nil) {
        self.all = all
        self.outputs = outputs
        self.images = images
    }

    /// This table, with `other` for everything that it does not state.
    package func over(_ other: ToleranceTable) -> ToleranceTable {
        ToleranceTable(
            all: all ?? other.all,
            outputs: all == nil ? other.outputs.merging(outputs) { $1 } : outputs,
            images: images ?? other.images
        )
    }

    /// The tolerance for an output.
    ///
    /// - Parameters:
    ///   - output: The output's name.
    ///   - isInteger: Whether values are integers, which must match exactly unless their output has its own tolerance.
    /// - Returns: The tolerance of the output if it has its own, otherwise that of all outputs.
    func tolerance(of output: String, isInteger: Bool = false) -> Tolerance {
        outputs[output] ?? (isInteger ? .exact : all ?? .standard)
    }
}
