import CoreGraphics
package import CoreML
import Foundation
package import MLDetectionTraining
package import MLImages
import MLNumerics

/// A picture with its objects, and what a detector found in it.
package struct EvaluatedPicture: Sendable {
    /// An object or a detection.
    package struct Object: Sendable {
        package var label: String
        /// In fractions of the upright picture, origin at the top left.
        package var box: DetectionBox
        /// The confidence of a detection; 1 for an object.
        package var confidence: Double
        /// Whether a detection overlaps an object of its label by more than half, or an object has such a detection.
        package var isRight: Bool
    }

    package var url: URL
    package var objects: [Object]
    /// The detections with the model's default confidence or more, the most confident first.
    package var detections: [Object]

    /// The number of objects that were not found, and of detections of no object.
    package var errorCount: Int { objects.count { !$0.isRight } + detections.count { !$0.isRight } }
}

/// A detector with one picture as its input, and the outputs of non-maximum suppression.
package struct ObjectDetection: Sendable {
    private let model: MLModel
    package let labels: [String]
    private let image: (name: String, constraint: MLImageConstraint)
    private let outputs: (confidence: String, coordinates: String)
    private let takesThreshold: Bool

    /// The confidence from which on detections count in metrics, as in Turi Create.
    static let minimumConfidence = 0.001

    /// - Throws: `MLCreateError` for a model that is not a detector.
    package init(_ model: MLModel) throws {
        let description = model.modelDescription
        let needed = description.inputDescriptionsByName.filter { !$0.value.isOptional }
        guard let labels = description.detectorLabels, !labels.isEmpty, let outputs = description.detectorOutputs,
            needed.count == 1, let (name, input) = needed.first, let constraint = input.imageConstraint
        else {
            throw MLCreateError.generic(
                reason:
                    "the model is not an object detector: it does not take one image, or does not end in non-maximum "
                    + "suppression with labels"
            )
        }
        self.model = model
        self.labels = labels
        self.outputs = outputs
        image = (name, constraint)
        let threshold = description.inputDescriptionsByName[DetectionInterface.confidenceThreshold]
        takesThreshold = threshold?.type == .double
    }

    /// The objects in an upright picture, the most confident first.
    ///
    /// - Parameters:
    ///   - picture: The picture, which is stretched to the model's size.
    ///   - confidence: The least confidence; the model's own threshold if `nil`.
    /// - Returns: The objects; boxes are cut to the picture.
    /// - Throws: `MLCreateError` for outputs that do not fit the labels, and the model's errors.
    package func detections(in picture: Bitmap, confidence: Double? = nil) throws -> [AveragePrecision.Detection] {
        var features: [String: Any] = [
            image.name: try MLFeatureValue(
                cgImage: CGImage(picture, isOpaque: true),
                constraint: image.constraint,
                options: [.cropAndScale: NSNumber(value: Bitmap.Fitting.scaleFill.rawValue)]
            )
        ]
        if let confidence, takesThreshold { features[DetectionInterface.confidenceThreshold] = confidence }
        let output = try model.prediction(from: MLDictionaryFeatureProvider(dictionary: features))
        guard let votes = output.featureValue(for: outputs.confidence)?.multiArrayValue,
            let positions = output.featureValue(for: outputs.coordinates)?.multiArrayValue
        else { throw MLCreateError.generic(reason: "the model gave no confidences or no coordinates") }
        let rows = MLShapedArray<Double>(converting: votes).scalars
        let numbers = MLShapedArray<Double>(converting: positions).scalars
        guard rows.count / labels.count == numbers.count / 4, rows.count % labels.count == 0 else {
            throw MLCreateError.generic(
                reason:
                    "the model gave \(rows.count) confidences and \(numbers.count) coordinates for \(labels.count) labels"
            )
        }
        return (0..<numbers.count / 4).compactMap { index in
            let row = rows[index * labels.count..<(index + 1) * labels.count]
            guard let best = row.indices.max(by: { row[$0] < row[$1] }), row[best] >= (confidence ?? 0) else {
                return nil
            }
            let position = numbers[4 * index..<4 * index + 4].map { $0 }
            let box = DetectionBox(
                left: position[0] - position[2] / 2,
                top: position[1] - position[3] / 2,
                right: position[0] + position[2] / 2,
                bottom: position[1] + position[3] / 2
            )
            return .init(
                object: DetectionObject(label: best - row.startIndex, box: box.intersection(.whole)),
                confidence: row[best]
            )
        }
    }

    /// Compares detections with a picture's objects.
    static func compared(
        _ url: URL,
        _ picture: AveragePrecision.Image,
        labels: [String],
        confidence: Double = DetectionInterface.defaultConfidence
    ) -> EvaluatedPicture {
        var result = EvaluatedPicture(url: url, objects: [], detections: [])
        result.objects = picture.objects.map {
            .init(label: labels[$0.label], box: $0.box, confidence: 1, isRight: false)
        }
        let displayed = picture.detections.filter { $0.confidence >= confidence }.sorted {
            $0.confidence > $1.confidence
        }
        for detection in displayed {
            let object = detection.object
            let best = picture.objects.indices.filter { picture.objects[$0].label == object.label }
                .max { picture.objects[$0].box.overlap(object.box) < picture.objects[$1].box.overlap(object.box) }
            var isRight = false
            if let best, picture.objects[best].box.overlap(object.box) > 0.5, !result.objects[best].isRight {
                result.objects[best].isRight = true
                isRight = true
            }
            result.detections.append(
                .init(
                    label: labels[object.label],
                    box: object.box,
                    confidence: detection.confidence,
                    isRight: isRight
                )
            )
        }
        return result
    }
}

/// The answers of a detector for annotated pictures.
package struct ObjectEvaluation: Sendable {
    package let metrics: MLObjectDetectorMetrics
    /// The pictures, in their order.
    package let pictures: [EvaluatedPicture]
    package let skipped: [MLObjectDetector.SkippedImage]

    /// Asks a detector about annotated picture files, on all threads.
    ///
    /// - Throws: `MLCreateError` if the source or none of its pictures can be read, an annotation has a label that the
    ///   model does not know, or the model fails.
    package init(
        of model: MLModel,
        on source: MLObjectDetector.DataSource,
        annotationType: MLObjectDetector.AnnotationType
    ) throws {
        try self.init(of: model, source.pictures(BoxForm(annotationType)))
    }

    private enum Answer: Sendable {
        case picture(AveragePrecision.Image, notes: [String])
        case unreadable(String)
        case failure(String)
    }

    init(of model: MLModel, _ files: [AnnotatedPicture]) throws {
        let detection = try ObjectDetection(model)
        let labels = detection.labels
        let indices = Dictionary(zip(labels, 0...)) { first, _ in first }
        for file in files {
            for object in file.objects where indices[object.label] == nil {
                throw MLCreateError.generic(
                    reason:
                        "\(file.path) has the label '\(object.label)', which the model does not have; its labels are "
                        + labels.joined(separator: ", ")
                )
            }
        }
        let answers = ImageReader.map(files.count) { index -> Answer in
            let picture: ObjectPicture
            do throws(ModelError) { picture = try ObjectPicture.read(files[index]) } catch {
                return .unreadable(ImageReader.reason(error))
            }
            let objects = picture.objects.compactMap { object in
                indices[object.label].map { DetectionObject(label: $0, box: object.box) }
            }
            do {
                let found = try detection.detections(in: picture.bitmap, confidence: ObjectDetection.minimumConfidence)
                return .picture(.init(objects: objects, detections: found), notes: picture.notes)
            } catch { return .failure("\(files[index].path): \(error)") }
        }
        var skipped: [MLObjectDetector.SkippedImage] = []
        var (measured, pictures): ([AveragePrecision.Image], [EvaluatedPicture]) = ([], [])
        for (file, answer) in zip(files, answers) {
            let url = URL(fileURLWithPath: file.path)
            switch answer {
            case .failure(let text): throw MLCreateError.generic(reason: text)
            case .unreadable(let reason): skipped.append(.init(url: url, reason: reason, isUsed: false))
            case .picture(let picture, let notes):
                measured.append(picture)
                pictures.append(ObjectDetection.compared(url, picture, labels: labels))
                skipped += notes.map { .init(url: url, reason: $0, isUsed: true) }
            }
        }
        guard !measured.isEmpty else {
            let example = skipped.first.map { ": \($0.url.path): \($0.reason)" } ?? ""
            throw MLCreateError.generic(reason: "none of \(files.count) images can be read\(example)")
        }
        metrics = MLObjectDetectorMetrics(measured, labels: labels)
        self.pictures = pictures
        self.skipped = skipped
    }

    /// Asks a detector about pictures in memory, on all threads.
    init(of model: MLModel, _ examples: [(path: String, example: DetectionExample)]) throws {
        let detection = try ObjectDetection(model)
        let answers = ImageReader.map(examples.count) { index in
            Result {
                let example = examples[index].example
                let found = try detection.detections(
                    in: ObjectPictures.bitmap(example.file),
                    confidence: ObjectDetection.minimumConfidence
                )
                return AveragePrecision.Image(objects: example.objects, detections: found)
            }
        }
        let measured = try answers.map { try $0.get() }
        metrics = MLObjectDetectorMetrics(measured, labels: detection.labels)
        pictures = zip(examples, measured).map {
            ObjectDetection.compared(URL(fileURLWithPath: $0.path), $1, labels: detection.labels)
        }
        skipped = []
    }
}
