public import Foundation
public import TabularData

/// The units of boxes in annotations.
public enum MLBoundingBoxUnits: Hashable, Sendable {
    /// Fractions of the picture's width and height.
    case normalized
    /// Pixels of the picture.
    case pixel
}

/// The corner of a picture where the coordinates of boxes are 0.
public enum MLBoundingBoxCoordinatesOrigin: Hashable, Sendable {
    /// The bottom left corner: y grows upwards.
    case bottomLeft
    /// The top left corner: y grows downwards.
    case topLeft
}

/// The point of a box that its `x` and `y` are of.
public enum MLBoundingBoxAnchor: Hashable, Sendable {
    /// The bottom left corner.
    case bottomLeft
    /// The centre.
    case center
    /// The top left corner.
    case topLeft
}

extension MLObjectDetector {
    /// The objects in a picture.
    public typealias DetectedObjects = [MLObjectDetector.ObjectAnnotation]

    /// The form of annotations.
    ///
    /// Pascal VOC's and COCO's files and tables of corners have a form of their own, which this does not change.
    public enum AnnotationType: Hashable, Sendable {
        /// Boxes: `x`, `y`, `width` and `height`.
        case boundingBox(
            units: MLBoundingBoxUnits = .pixel,
            origin: MLBoundingBoxCoordinatesOrigin = .topLeft,
            anchor: MLBoundingBoxAnchor = .center
        )
    }

    /// An object in a picture.
    public struct ObjectAnnotation: Hashable, Sendable {
        /// The kind of object.
        public var label: String
        /// The place: `origin` is the point, and the numbers are in the units, of the annotation type.
        ///
        /// Predictions have those of the annotation type that the detector was trained with.
        public var boundingBox: CGRect
        /// The certainty, from 0 to 1.
        public var confidence: Double

        /// Creates an annotation; see the properties of the same names.
        public init(label: String, boundingBox: CGRect, confidence: Double) {
            self.label = label
            self.boundingBox = boundingBox
            self.confidence = confidence
        }
    }

    /// Annotated pictures for training and evaluation.
    ///
    /// A file of annotations is Create ML's JSON (a list of objects with `image` and `annotations`, each of a `label`
    /// and `coordinates`), COCO's JSON, or a CSV table: of pictures with a column `annotations` of such JSON, or of
    /// objects with columns `label` and `xmin`, `ymin`, `xmax`, `ymax` or `x`, `y`, `width`, `height`. Names of
    /// pictures are relative to their folder. In place of a file, a folder of Pascal VOC's XML files may be given.
    public enum DataSource {
        /// A folder of pictures and a file of annotations.
        case directoryWithImages(at: URL, annotationFile: URL)
        /// A folder of pictures and one file of annotations.
        case directoryWithImagesAndJsonAnnotation(at: URL)
        /// A data frame with a column of the pictures' paths, and one of annotations: `[ObjectAnnotation]`, lists of
        /// dictionaries with `label` and `coordinates`, or these as JSON text.
        case frame(DataFrame, imageColumn: String, annotationColumn: String)
        /// A data table with a column of the pictures' paths, and one of annotations as in a data frame.
        case table(MLDataTable, imageColumn: String, annotationColumn: String)

        /// Returns the pictures and their annotations.
        /// - Returns: A data frame with the columns `image`, the paths, and `annotations`, Create ML's JSON as text.
        /// - Throws: `MLCreateError` for files and tables that cannot be read.
        public func gatherAnnotatedFileNames() throws -> DataFrame {
            switch self {
            case .frame(let frame, let image, let annotations):
                for name in [image, annotations] where !frame.columns.contains(where: { $0.name == name }) {
                    throw MLCreateError.generic(reason: "the data frame has no column '\(name)'")
                }
                return frame
            default:
                let pictures = try pictures(BoxForm(anchor: .center))
                var frame = DataFrame()
                frame.append(column: Column(name: "image", contents: pictures.map(\.path)))
                frame.append(
                    column: Column(name: "annotations", contents: try pictures.map { try ObjectCells.json($0.objects) })
                )
                return frame
            }
        }

        /// Returns the pictures and their annotations as a data table.
        /// - Returns: A table with the columns `image`, the paths, and `annotations`, lists of dictionaries.
        /// - Throws: `MLCreateError` for files and tables that cannot be read.
        public func imagesWithObjectAnnotations() throws -> MLDataTable {
            if case .table(let table, _, _) = self {
                if let error = table.error { throw error }
                return table
            }
            let pictures = try pictures(BoxForm(anchor: .center))
            let annotations = pictures.map { picture in
                MLDataValue.sequence(.init(picture.objects.map(Self.value)))
            }
            return try MLDataTable(namedColumns: [
                "image": MLUntypedColumn(pictures.map(\.path)), "annotations": MLUntypedColumn(annotations),
            ])
        }

        private static func value(_ object: AnnotatedPicture.Object) -> MLDataValue {
            func dictionary(_ values: [(String, MLDataValue)]) -> MLDataValue {
                .dictionary(.init(uniqueKeysWithValues: values.map { (MLDataValue.string($0.0), $0.1) }))
            }
            return dictionary([
                ("label", .string(object.label)),
                (
                    "coordinates",
                    dictionary([
                        ("x", .double(object.x)), ("y", .double(object.y)), ("width", .double(object.width)),
                        ("height", .double(object.height)),
                    ])
                ),
            ])
        }

        /// Divides the pictures at random by proportions, for each combination of labels alike.
        /// - Parameters:
        ///   - proportions: The share of each part, from 0 to 1; a sum other than 1 is made 1.
        ///   - seed: The seed of the assignment; taken from the clock by default.
        ///   - annotationColumn: The column of the annotations.
        /// - Returns: The table with a column `partition`, the number of each picture's part.
        /// - Throws: `MLCreateError` for proportions out of range, and the errors of `imagesWithObjectAnnotations()`.
        public func stratifiedSplit(
            proportions: [Double],
            seed: Int = timestampSeed(),
            annotationColumn: String
        ) throws -> MLDataTable {
            let fractions = try Proportions(proportions)
            var table = try imagesWithObjectAnnotations()
            let frame = try table.dataFrame()
            guard frame.columns.contains(where: { $0.name == annotationColumn }) else {
                throw MLCreateError.generic(reason: "the table has no column '\(annotationColumn)'")
            }
            var groups: [String: [Int]] = [:]
            for row in 0..<frame.shape.rows {
                var picture = AnnotatedPicture(path: "", form: BoxForm(anchor: .center))
                ObjectCells.add(frame[annotationColumn][row] ?? [Any](), to: &picture)
                groups[Set(picture.objects.map(\.label)).sorted().joined(separator: "\n"), default: []].append(row)
            }
            var generator = SeededGenerator(seed: seed)
            var parts = [Int](repeating: 0, count: frame.shape.rows)
            for rows in groups.sorted(by: { $0.key < $1.key }).map(\.value) {
                let shuffled = rows.shuffled(using: &generator)
                var start = 0
                for (part, end) in fractions.ends(of: shuffled.count).enumerated() {
                    for row in shuffled[start..<max(end, start)] { parts[row] = part }
                    start = max(end, start)
                }
            }
            table.addColumn(MLUntypedColumn(parts), named: "partition")
            return table
        }

        /// The pictures with their annotations, in their order.
        func pictures(_ form: BoxForm) throws -> [AnnotatedPicture] {
            switch self {
            case .directoryWithImages(let folder, let file):
                try AnnotationFile(folder: folder, form: form).pictures(at: file)
            case .directoryWithImagesAndJsonAnnotation(let folder): try AnnotationFile.inFolder(folder, form: form)
            case .frame(let frame, let image, let annotations):
                try ObjectCells.pictures(frame, image, annotations, form)
            case .table(let table, let image, let annotations):
                try ObjectCells.pictures(table.dataFrame(), image, annotations, form)
            }
        }
    }

    /// A picture that training or an evaluation left out, or some of whose objects were left out; an addition to
    /// Apple's API.
    public struct SkippedImage: Hashable, Sendable {
        /// The file.
        public var url: URL
        /// The reason, as that the file is damaged or that a box is empty.
        public var reason: String
        /// Whether the picture is used without the objects that the reason is about.
        public var isUsed: Bool
    }
}

extension MLObjectDetector.ObjectAnnotation: CustomStringConvertible, CustomDebugStringConvertible {
    /// The label, the box and the confidence.
    public var description: String { "\(label) at \(boundingBox) (\(confidence))" }
    /// The same text as `description`.
    public var debugDescription: String { description }
}
