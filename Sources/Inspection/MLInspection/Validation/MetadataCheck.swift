import MLFiles
import MLSpecification

/// Checks the metadata that model viewers read.
enum MetadataCheck {
    private static let previewType = "com.apple.coreml.model.preview.type"
    private static let previewParameters = "com.apple.coreml.model.preview.parameters"
    /// The preview types that Apple documents and those that its tools write.
    private static let knownPreviews: Set<String> = [
        "imageClassifier", "imageSegmenter", "objectDetector", "depthEstimation", "poseEstimation", "bertQA",
        "styleTransfer", "textClassifier", "wordTagger", "soundClassifier", "tabularClassifier", "tabularRegressor",
        "recommender", "activityClassifier", "actionClassifier", "handPoseClassifier", "handActionClassifier",
    ]

    static func check(_ metadata: SpecMetadata, _ list: inout FindingList) {
        list.inside("metadata") { list in
            let custom = metadata.userDefined
            if let type = custom[previewType], !knownPreviews.contains(type) {
                let names = knownPreviews.sorted().joined(separator: ", ")
                list.warning("\"\(type)\" is not a kind of preview that is known; those are \(names)", at: previewType)
            }
            guard let text = custom[previewParameters] else { return }
            guard let json = try? JSONReader.read(Array(text.utf8)), case .object = json else {
                list.warning("the text is not an object in JSON", at: previewParameters)
                return
            }
            if case .array(let labels)? = json["labels"], case .array(let colors)? = json["colors"],
                !colors.isEmpty, labels.count != colors.count
            {
                list.warning("\(labels.count) labels, but \(colors.count) colors", at: previewParameters)
            }
        }
    }
}
