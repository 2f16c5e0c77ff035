package import MLGraph
package import MLNumerics

/// A model as a graph, and the mapping of its features to the graph's inputs and outputs.
package struct LoweredModel: Sendable {
    package var graph: Graph
    /// In the order of the model's description.
    package var inputs: [InputFeature]
    package var outputs: [OutputFeature]
    package var states: [StateFeature]
    package var classifier: Classifier?
    package var language: Language

    /// The language of the model.
    package enum Language: String, Sendable, Codable { case neuralNetwork, program }

    package init(
        graph: Graph,
        inputs: [InputFeature],
        outputs: [OutputFeature],
        states: [StateFeature] = [],
        classifier: Classifier? = nil,
        language: Language = .neuralNetwork
    ) {
        self.graph = graph
        self.inputs = inputs
        self.outputs = outputs
        self.states = states
        self.classifier = classifier
        self.language = language
    }
}

/// A buffer that outlives a prediction: the graph takes its contents and returns those after the run.
package struct StateFeature: Sendable, Codable {
    package var name: String
    /// The index among the graph's inputs.
    package var input: Int
    /// The index among the graph's outputs; `nil` when the model only reads the state.
    package var output: Int?

    package init(name: String, input: Int, output: Int?) {
        self.name = name
        self.input = input
        self.output = output
    }
}

/// An input of the model and the corresponding input of the graph.
package struct InputFeature: Sendable {
    package var name: String
    /// The input of the graph; its type has the scalar type and the extents, unknown where the model is flexible.
    package var value: ValueID
    package var form: Form
    /// Whether the input may be left out; the graph then takes a tensor filled with `defaultValue`.
    package var isOptional: Bool
    package var defaultValue: Double

    package enum Form: Sendable, Codable {
        /// A multi-array.
        case array(ArrayMapping)
        /// An image; the graph takes [1, C, H, W] (or [1, 1, C, H, W] when its rank is 5) float32 in 0 … 255, planes in
        /// the order of `layout`.
        case image(ImageForm)
        /// The contents of a state; see `LoweredModel.states`.
        case state
    }

    package init(
        name: String,
        value: ValueID,
        form: Form,
        isOptional: Bool = false,
        defaultValue: Double = 0
    ) {
        self.name = name
        self.value = value
        self.form = form
        self.isOptional = isOptional
        self.defaultValue = defaultValue
    }
}

/// An output of the model and the corresponding output of the graph.
package struct OutputFeature: Sendable, Codable {
    package var name: String
    /// The index among the graph's outputs.
    package var index: Int
    package var form: Form

    package enum Form: Sendable, Codable {
        /// A multi-array of the given scalar type.
        case array(ArrayMapping, ScalarType)
        /// An image from [1, C, H, W] (leading ones aside) values in 0 … 255; the inverse of the input form.
        case image(ImageForm)
        /// An integer, a double or a string from the first element.
        case int64, double, string
        /// The label-to-probability dictionary of a `classify` operation: the graph's output of kind `.dictionary`.
        case dictionary
    }

    package init(name: String, index: Int, form: Form) {
        self.name = name
        self.index = index
        self.form = form
    }
}

/// Size and colour layout of an image feature.
package struct ImageForm: Hashable, Sendable, Codable {
    package enum ColorLayout: String, Hashable, Sendable, Codable {
        /// Planes R, G, B.
        case rgb
        /// Planes B, G, R.
        case bgr
        /// One plane, 8 bits.
        case gray
        /// One plane, half precision; values are not scaled.
        case grayFloat16

        package var channelCount: Int { self == .rgb || self == .bgr ? 3 : 1 }
    }

    /// The size to which a caller's image is scaled; unknown when the model accepts any.
    package var width: Dimension
    package var height: Dimension
    package var layout: ColorLayout

    package init(width: Dimension, height: Dimension, layout: ColorLayout) {
        self.width = width
        self.height = height
        self.layout = layout
    }
}

/// The computation of a classifier's outputs from one of the graph's outputs.
package struct Classifier: Sendable, Codable {
    package enum Labels: Sendable, Codable {
        case strings([String])
        case integers([Int64])

        package var count: Int {
            switch self {
            case .strings(let labels): labels.count
            case .integers(let labels): labels.count
            }
        }
    }

    package var labels: Labels
    /// The index, among the graph's outputs, of the tensor with one probability for each label, in any shape.
    package var probabilities: Int
    /// The output feature for the label of the highest probability.
    package var predictedFeatureName: String
    /// The output feature for the dictionary from label to probability; `nil` when the model has none.
    package var probabilitiesFeatureName: String?

    package init(
        labels: Labels,
        probabilities: Int,
        predictedFeatureName: String,
        probabilitiesFeatureName: String?
    ) {
        self.labels = labels
        self.probabilities = probabilities
        self.predictedFeatureName = predictedFeatureName
        self.probabilitiesFeatureName = probabilitiesFeatureName
    }
}
