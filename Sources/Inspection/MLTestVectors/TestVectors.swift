package import MLFeatures

/// Stored pairs of inputs and outputs, with which a model is tested before it ships.
package struct TestVectors: Sendable {
    package var cases: [TestCase]
    /// How far answers may lie from what is expected, as the file says; outputs by name before the rest.
    package var tolerances: ToleranceTable

    package init(cases: [TestCase], tolerances: ToleranceTable = ToleranceTable()) {
        self.cases = cases
        self.tolerances = tolerances
    }
}

/// Predictions one after the other with one state; one, for a model that keeps none.
package struct TestCase: Sendable {
    package var name: String
    package var steps: [TestStep]

    package init(name: String, steps: [TestStep]) {
        self.name = name
        self.steps = steps
    }
}

/// One prediction: what goes in, and what is expected of the outputs that are named.
package struct TestStep: Sendable {
    package var inputs: [String: FeatureData]
    package var outputs: [String: ExpectedValue]

    package init(inputs: [String: FeatureData], outputs: [String: ExpectedValue]) {
        self.inputs = inputs
        self.outputs = outputs
    }
}

/// What an output is compared with.
package enum ExpectedValue: Sendable {
    case value(FeatureData)
    /// The numbers of a dictionary in the order of its labels.
    case scores(labels: [String], values: [Double])

    /// The value in words.
    package var kind: String {
        switch self {
        case .value(let data): data.kind
        case .scores(let labels, _): "a dictionary of \(labels.count)"
        }
    }
}

/// How far a number may lie from the one that is expected: |got − expected| ≤ absolute + relative · |expected|.
package struct Tolerance: Sendable, Equatable {
    package var absolute: Double
    package var relative: Double

    package init(absolute: Double, relative: Double) {
        self.absolute = absolute
        self.relative = relative
    }

    /// Wide enough for a model in half precision, narrow enough to notice a weight that is wrong.
    package static let standard = Tolerance(absolute: 1e-3, relative: 1e-3)
    package static let exact = Tolerance(absolute: 0, relative: 0)

    package func allows(_ got: Double, for expected: Double) -> Bool {
        if got.isNaN || expected.isNaN { return got.isNaN && expected.isNaN }
        if got == expected { return true }
        guard got.isFinite, expected.isFinite else { return false }
        return abs(got - expected) <= absolute + relative * abs(expected)
    }
}

/// How far levels of a picture (0 to 255) may lie from those that are expected.
package struct ImageTolerance: Sendable, Equatable {
    /// Of any one component.
    package var largest: Double
    /// Of all, on average.
    package var mean: Double

    package init(largest: Double, mean: Double) {
        self.largest = largest
        self.mean = mean
    }

    package static let standard = ImageTolerance(largest: 4, mean: 0.5)
}

/// The tolerances of a run.
package struct ToleranceTable: Sendable, Equatable {
    /// For every number; `nil` where nobody said one.
    package var all: Tolerance?
    /// For the outputs of these names.
    package var outputs: [String: Tolerance]
    package var images: ImageTolerance?

    package init(all: Tolerance? = nil, outputs: [String: Tolerance] = [:], images: ImageTolerance? = nil) {
        self.all = all
        self.outputs = outputs
        self.images = images
    }

    /// This table where it says something, else `other`.
    package func over(_ other: ToleranceTable) -> ToleranceTable {
        ToleranceTable(
            all: all ?? other.all,
            outputs: all == nil ? other.outputs.merging(outputs) { $1 } : outputs,
            images: images ?? other.images
        )
    }

    /// - Parameter isInteger: integers are expected exactly unless their output has a tolerance of its own.
    func tolerance(of output: String, isInteger: Bool = false) -> Tolerance {
        outputs[output] ?? (isInteger ? .exact : all ?? .standard)
    }
}
