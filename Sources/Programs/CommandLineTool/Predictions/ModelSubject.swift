import CoreML
import CreateML
import MLEngine
import MLFiles
import MLModels
import MLSpecification

/// The task of a model; it determines the inputs that the command line accepts.
enum ModelSubject {
    case sounds, activities
    /// Models of key points: of several frames, or of one.
    case keypoints(areActions: Bool)
    case recommendations(SpecItemSimilarityRecommender)
    /// Text models, whose only input is the text.
    case texts(SpecFeatureDescription)
    /// Image models; the first of the image inputs.
    case pictures(SpecFeatureDescription)
    case rows

    init(_ model: SpecModel) {
        let interface = model.description_p
        if case .itemSimilarityRecommender(let parameters)? = model.type {
            self = .recommendations(parameters)
        } else if interface.input.count == 1, interface.input[0].name == "audioSamples",
            !interface.predictedFeatureName.isEmpty
        {
            self = .sounds
        } else if SensorInputs(interface) != nil {
            self = .activities
        } else if KeypointPredictions.areTaken(by: interface) {
            self = .keypoints(areActions: KeypointPredictions.areActions(interface))
        } else if interface.input.count == 1, case .stringType? = interface.input[0].type.type {
            self = .texts(interface.input[0])
        } else if let input = interface.input.first(where: {
            if case .imageType? = $0.type.type { true } else { false }
        }) {
            self = .pictures(input)
        } else {
            self = .rows
        }
    }

    /// The kind of files that are inputs; `nil` when files are not.
    var files: FileList.Kind? {
        switch self {
        case .sounds: .sounds
        case .activities: .recordings
        case .keypoints(let areActions): areActions ? .actions : .poses
        case .texts: .texts
        case .pictures: .pictures
        case .recommendations, .rows: nil
        }
    }

    /// The options that only this task has.
    var options: Set<String> {
        switch self {
        case .sounds: ["--windows", "--overlap"]
        case .activities: ["--windows", "--recording", "--features"]
        case .keypoints: ["--windows", "--frame-rate"]
        case .texts: ["--text"]
        case .recommendations:
            [
                "--observed", "--user", "--user-column", "--item-column", "--rating-column", "--items", "--k",
            ]
        case .pictures, .rows: []
        }
    }
}
