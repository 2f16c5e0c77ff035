import Foundation
import MLEngine
import MLFeatureFiles
import MLFiles
import MLNumerics
import MLSpecification

/// Reads training data: the features of an update's examples.
struct TrainingReader {
    /// A reader with the training inputs as its inputs.
    private let reader: InputReader
    private let features: [SpecFeatureDescription]

    init(_ features: [SpecFeatureDescription]) {
        self.features = features
        var interface = SpecModelDescription()
        interface.input = features
        reader = InputReader(interface: interface)
    }

    /// The training inputs with types, one per line, for messages.
    var list: String {
        "Each example takes:\n" + features.map { "  \($0.name): \($0.typeText)" }.joined(separator: "\n")
    }

    /// The examples of a `.csv` or `.jsonl` file, or of a folder with a folder of images for each label.
    func examples(at path: String) throws -> [[String: FeatureData]] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw Failure("there is no training data at '\(path)'")
        }
        if isFolder.boolValue { return try examples(inFolder: path) }
        if path.hasSuffix(".csv") { return try reader.rows(ofCSV: path) }
        if path.hasSuffix(".jsonl") || path.hasSuffix(".ndjson") { return try reader.rows(ofJSONLines: path) }
        throw Failure(
            "'\(path)': training data is a .csv or .jsonl file, or a folder with a folder of images per label"
        )
    }

    private func examples(inFolder folder: String) throws -> [[String: FeatureData]] {
        var images: [SpecFeatureDescription] = []
        var others: [SpecFeatureDescription] = []
        for feature in features {
            if case .imageType? = feature.type.type { images.append(feature) } else { others.append(feature) }
        }
        guard images.count == 1, others.count == 1, case .imageType(let type)? = images[0].type.type else {
            throw Failure(
                "'\(folder)': folders of images are for models that learn from one image and one label\n\(list)"
            )
        }
        return try LabelledImages.files(inFolder: folder).map { file in
            [
                images[0].name: try ImageInput.read(file.path, type),
                others[0].name: try reader.value(file.label, for: others[0]),
            ]
        }
    }
}

extension InputReader {
    /// One set of features for each line of a file, a JSON object with the inputs by name; images are given by the
    /// file's path.
    func rows(ofJSONLines path: String) throws -> [[String: FeatureData]] {
        var result: [[String: FeatureData]] = []
        for (number, line) in try text(path).split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = line.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !line.isEmpty else { continue }
            guard case .object(let members)? = try? JSONFeature.value(line) else {
                throw Failure("\(path): line \(number + 1) is not a JSON object")
            }
            var features: [String: FeatureData] = [:]
            for description in interface.input {
                guard let json = members.first(where: { $0.name == description.name })?.value else {
                    if description.type.isOptional { continue }
                    throw Failure("\(path): line \(number + 1) has no '\(description.name)'\n\(inputList)")
                }
                do {
                    if case .imageType(let image)? = description.type.type {
                        guard let file = json.string else {
                            throw Failure("'\(description.name)' takes the path of an image")
                        }
                        let base = (path as NSString).deletingLastPathComponent
                        let full = file.hasPrefix("/") || base.isEmpty ? file : base + "/" + file
                        features[description.name] = try ImageInput.read(full, image)
                    } else {
                        features[description.name] = try JSONFeature.data(json, for: description)
                    }
                } catch let failure as Failure {
                    throw Failure("\(path): line \(number + 1): \(failure.description)")
                }
            }
            result.append(features)
        }
        return result
    }
}
