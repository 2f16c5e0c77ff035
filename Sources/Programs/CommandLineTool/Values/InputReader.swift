import Foundation
import ImageIO
import MLEngine
import MLFeatureFiles
import MLFiles
import MLImages
import MLNumerics
import MLSpecification
import MLTestVectors
import TabularData

/// Converts command line arguments to a model's input features.
struct InputReader {
    let interface: SpecModelDescription

    /// Reads `name=value` arguments and whole files (`.npz`, `.json`) of inputs.
    ///
    /// A value is an image file, a `.npy` file, a `.json` file, or, for numbers, strings and small arrays, the value
    /// itself in JSON; a string needs no quotes.
    ///
    /// - Parameters:
    ///   - arguments: The arguments.
    ///   - others: Inputs that may be missing.
    /// - Returns: The inputs by name.
    /// - Throws: `Failure` when an argument is not a value of its input, or an input is missing.
    func features(_ arguments: [String], besides others: String...) throws -> [String: FeatureData] {
        var features: [String: FeatureData] = [:]
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else {
                for (name, data) in try all(inFile: argument) { features[name] = data }
                continue
            }
            let feature = try feature(parts[0])
            features[parts[0]] = try unquoted(parts[1], for: feature) ?? value(parts[1], for: feature)
        }
        if let missing = interface.input.first(where: {
            !$0.type.isOptional && features[$0.name] == nil && !others.contains($0.name)
        }) {
            throw Failure("the input '\(missing.name)' is missing\n\(inputList)")
        }
        return features
    }

    /// One set of features for every row of a CSV file whose header names the inputs.
    ///
    /// An empty cell of a number is a missing value, NaN.
    func rows(ofCSV path: String) throws -> [[String: FeatureData]] {
        try rows(of: try table(ofCSV: path), path)
    }

    /// The table of a `.csv` or `.tsv` file: texts in the columns of inputs and in those named by `others`.
    func table(ofCSV path: String, delimiter: String? = nil, others: [String] = []) throws -> DataFrame {
        guard !path.hasSuffix(".json") else { throw Failure("'\(path)': rows are read from .csv and .tsv files") }
        let texts = interface.input.map(\.name) + others
        let types = Dictionary(texts.map { ($0, CSVType.string) }) { $1 }
        let table = try TableFile.read(path, delimiter: delimiter, types: types, missing: [])
        guard !table.columns.isEmpty else { throw Failure("\(path): no header line") }
        return table
    }

    /// Converts the rows of a table that was already read.
    ///
    /// Rows are counted from 0, as in `CSVReadingError`; an empty cell of an optional sequence means that it is absent.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - path: The path to name in errors.
    ///   - range: The rows; all when `nil`.
    /// - Returns: The inputs of each row by name.
    /// - Throws: `Failure` naming the row and the column of a cell that does not fit, or a missing column.
    func rows(
        of table: DataFrame,
        _ path: String,
        in range: Range<Int>? = nil
    ) throws -> [[String: FeatureData]] {
        var columns: [(feature: SpecFeatureDescription, cells: Column<String>)] = []
        for feature in interface.input {
            if table.containsColumn(feature.name) {
                columns.append((feature, table[feature.name, String.self]))
            } else if !feature.type.isOptional {
                throw Failure("\(path): no column '\(feature.name)'\n\(inputList)")
            }
        }
        return try (range ?? 0..<table.shape.rows).map { row in
            var features: [String: FeatureData] = [:]
            for (feature, cells) in columns {
                let cell = cells[row] ?? ""
                if cell.isEmpty, case .doubleType? = feature.type.type {
                    features[feature.name] = .double(.nan)
                    continue
                }
                if cell.isEmpty, feature.type.isOptional, case .sequenceType? = feature.type.type { continue }
                do { features[feature.name] = try value(cell, for: feature) } catch {
                    throw Failure("\(path): row \(row), column '\(feature.name)': \(error)")
                }
            }
            return features
        }
    }

    /// A batch from a file: the rows of a `.csv`; the first axes of the arrays in a `.npz`, which have the inputs'
    /// names, or of a `.npy` for a model with one input.
    func batch(inFile path: String) throws -> FeatureBatch {
        if path.hasSuffix(".csv") {
            guard let batch = FeatureBatch(try rows(ofCSV: path)) else {
                throw Failure("\(path): the rows do not all have the same inputs")
            }
            return batch
        }
        var arrays: [String: Tensor] = [:]
        if path.hasSuffix(".npz") {
            arrays = try NumpyArchive.read(try bytes(path), name: path)
        } else if path.hasSuffix(".npy"), interface.input.count == 1 {
            arrays[interface.input[0].name] = try NumpyArray.read(try bytes(path), name: path)
        } else {
            throw Failure("'\(path)': a batch is a .csv or .npz file, or a .npy file for a model with one input")
        }
        var columns: [String: FeatureColumn] = [:]
        var count: Int?
        for input in interface.input {
            guard let array = arrays[input.name] else {
                if input.type.isOptional { continue }
                throw Failure("\(path): no array '\(input.name)'\n\(inputList)")
            }
            guard let first = array.shape.first, count ?? first == first else {
                throw Failure(
                    "\(path): the array '\(input.name)' is \(array.shape); all arrays need the same number of rows"
                )
            }
            count = first
            switch input.type.type {
            case .doubleType? where array.shape.count == 1: columns[input.name] = .doubles(array.values)
            case .int64Type? where array.shape.count == 1:
                columns[input.name] = .integers(array.integers.map { Int64($0) })
            case .multiArrayType(let type)?:
                // Examples may follow each other on an axis that the model declares with extent 1.
                let isJoined = type.shape.first == 1 && type.shape.count == array.shape.count
                columns[input.name] = .arrays(isJoined ? array.reshaped([first, 1] + array.shape.dropFirst()) : array)
            default: throw Failure("\(path): '\(input.name)' is \(input.typeText), which an array does not hold")
            }
        }
        return FeatureBatch(count: count ?? 0, columns: columns)
    }

    /// The model's inputs with types, one per line, for messages.
    var inputList: String {
        "The model takes:\n" + interface.input.map { "  \($0.name): \($0.typeText)" }.joined(separator: "\n")
    }

    func feature(_ name: String) throws -> SpecFeatureDescription {
        guard let feature = interface.input.first(where: { $0.name == name }) else {
            throw Failure("the model has no input '\(name)'\n\(inputList)")
        }
        return feature
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else { throw Failure("cannot read '\(path)'") }
        return [UInt8](data)
    }

    func text(_ path: String) throws -> String { String(decoding: try bytes(path), as: UTF8.self) }

    private func all(inFile path: String) throws -> [String: FeatureData] {
        if path.hasSuffix(".npz") {
            return try NumpyArchive.read(try bytes(path), name: path).mapValues { .tensor($0) }
        }
        guard path.hasSuffix(".json") else {
            throw Failure("'\(path)' is neither name=value nor a .npz or .json file of inputs")
        }
        guard case .object(let members) = try JSONFeature.value(inFile: path) else {
            throw Failure("\(path): a JSON object with a value for each input is needed")
        }
        var features: [String: FeatureData] = [:]
        for member in members {
            features[member.name] = try JSONFeature.data(member.value, for: try feature(member.name))
        }
        return features
    }

    func value(_ text: String, for feature: SpecFeatureDescription) throws -> FeatureData {
        if case .imageType(let image)? = feature.type.type {
            return try ImageInput.read(text, image, crops: interface.cropsPictures)
        }
        if text.hasSuffix(".npy") { return .tensor(try NumpyArray.read(try bytes(text), name: text)) }
        if text.hasSuffix(".json"), FileManager.default.fileExists(atPath: text) {
            return try JSONFeature.data(try JSONFeature.value(inFile: text), for: feature)
        }
        return try textValue(text, for: feature)
    }

    /// The string of a string input that is given as a JSON string, in quotes; `nil` for everything else.
    private func unquoted(_ text: String, for feature: SpecFeatureDescription) -> FeatureData? {
        guard case .stringType? = feature.type.type, text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\""),
            case .string(let content)? = try? JSONFeature.value(text)
        else { return nil }
        return .string(content)
    }

    /// A value given as text: itself, or JSON; never the name of a file.
    func textValue(_ text: String, for feature: SpecFeatureDescription) throws -> FeatureData {
        if case .stringType? = feature.type.type { return .string(text) }
        if case .doubleType? = feature.type.type, let number = Double(text) { return .double(number) }
        let json: JSONValue
        do { json = try JSONFeature.value(text) } catch {
            throw Failure(
                "'\(text)' is not a value for '\(feature.name)' (\(feature.typeText)); give a .npy or .json file, or JSON"
            )
        }
        return try JSONFeature.data(json, for: feature)
    }
}

/// Reads image files for an image input: upright, scaled to the model's size, in its colour layout.
enum ImageInput {
    static func read(_ path: String, _ type: SpecImageFeatureType, crops: Bool = false) throws -> FeatureData {
        try failing { () throws(ModelError) in try Picture.read(path, type, scales: true, crops: crops) }
    }

    /// Reads an image as the value of an image input.
    ///
    /// - Parameters:
    ///   - data: The bytes of an image file.
    ///   - type: The image input.
    ///   - fitting: How an image of another aspect ratio is fitted to the model's size.
    /// - Returns: The image, upright and in the input's size and colour space.
    /// - Throws: An error when the bytes are not an image that can be read.
    static func value(
        _ data: Data,
        _ type: SpecImageFeatureType,
        _ fitting: Bitmap.Fitting = .scaleFill
    ) throws -> FeatureData {
        let file = try ImageFile(data)
        let isGray = type.colorSpace == .grayscale || type.colorSpace == .grayscaleFloat16
        var bitmap = try file.bitmap().upright(fromExifOrientation: file.exifOrientation)
            .converted(to: isGray ? .gray : .rgba)
        if type.width > 0, type.height > 0, type.sizeFlexibility == nil {
            bitmap = bitmap.fitted(fitting, width: Int(type.width), height: Int(type.height))
        }
        let format = isGray ? ImageBuffer.PixelFormat.gray8 : .rgba8
        return .image(ImageBuffer(bitmap.pixels, width: bitmap.width, height: bitmap.height, format: format))
    }
}

extension SpecModelDescription {
    /// Whether the model states that it was trained on the middle of pictures, cut out, as classifiers of pictures do.
    var cropsPictures: Bool { metadata.userDefined["imageCropAndScale"] == "centerCrop" }
}
