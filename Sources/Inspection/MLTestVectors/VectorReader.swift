import MLFeatureFiles
import MLFeatures
import MLFiles
package import MLNumerics
package import MLSpecification

/// Reads test vectors in the formats of Documentation/TestVectors.md.
package struct VectorReader {
    private let interface: SpecModelDescription

    /// - Parameter interface: The interface of the tested model or function.
    package init(_ interface: SpecModelDescription) { self.interface = interface }

    /// Reads a `.npz`, `.json` or `.jsonl` file, or a folder.
    package func read(_ path: String) throws(ModelError) -> TestVectors {
        let vectors = try withErrorContext(path) { () throws(ModelError) in
            switch FileAccess.kind(of: path) {
            case nil: throw ModelError(.io, "There is no such file or folder; check the path.")
            case .other: throw ModelError(.io, "This is neither a file nor a folder.")
            case .folder: return try folder(FileAccess.withoutTrailingSlash(path))
            case .file: return try file(path)
            }
        }
        guard !vectors.cases.isEmpty else { throw ModelError(.invalidInput, "there are no cases in it", at: path) }
        return vectors
    }

    private func file(_ path: String) throws(ModelError) -> TestVectors {
        if path.hasSuffix(".npz") {
            let arrays = try NumpyArchive.read(try FileAccess.read(path), name: FileAccess.name(of: path))
            return TestVectors(cases: try ArrayVectors(interface, Self.stem(path)).cases(arrays))
        }
        guard path.hasSuffix(".json") || path.hasSuffix(".jsonl") else {
            throw ModelError(.invalidInput, "test vectors are .npz, .json or .jsonl files, or a folder of cases")
        }
        let objects = ObjectVectors(self, folder: FileAccess.folder(of: path))
        let bytes = try FileAccess.read(path)
        if path.hasSuffix(".json") { return try objects.vectors(try JSONReader.read(bytes)) }
        var cases: [TestCase] = []
        for (number, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard line.contains(where: { $0 > 0x20 }) else { continue }
            let test = try withErrorContext("line \(number + 1)") { () throws(ModelError) in
                try objects.testCase(try JSONReader.read(Array(line)), named: "\(cases.count)")
            }
            cases.append(test)
        }
        return TestVectors(cases: cases)
    }

    // MARK: Folders

    /// Reads a folder of vector files or of cases: folders that contain `inputs` and `outputs`, or numbered folders of
    /// those.
    private func folder(_ path: String) throws(ModelError) -> TestVectors {
        if let test = try testCase(inFolder: path, named: FileAccess.name(of: path)) {
            return TestVectors(cases: [test])
        }
        var vectors = TestVectors(cases: [])
        for name in try FileAccess.names(in: path) {
            let inner = path + "/" + name
            switch FileAccess.kind(of: inner) {
            case .folder?:
                if let test = try withErrorContext(
                    name,
                    { () throws(ModelError) in try testCase(inFolder: inner, named: name) }
                ) {
                    vectors.cases.append(test)
                }
            case .file? where [".npz", ".json", ".jsonl"].contains(where: name.hasSuffix):
                let found = try withErrorContext(name) { () throws(ModelError) in try file(inner) }
                vectors.cases += found.cases
                vectors.tolerances = found.tolerances.over(vectors.tolerances)
            default: break
            }
        }
        return vectors
    }

    private func testCase(inFolder path: String, named name: String) throws(ModelError) -> TestCase? {
        if FileAccess.kind(of: path + "/inputs") == .folder { return TestCase(name: name, steps: [try step(path)]) }
        var steps: [TestStep] = []
        while FileAccess.kind(of: "\(path)/\(steps.count)/inputs") == .folder {
            steps.append(try step("\(path)/\(steps.count)"))
        }
        return steps.isEmpty ? nil : TestCase(name: name, steps: steps)
    }

    private func step(_ path: String) throws(ModelError) -> TestStep {
        var step = TestStep(inputs: [:], outputs: [:])
        for (name, file) in try features(in: path + "/inputs") {
            step.inputs[name] = try value(inFile: file, for: input(name))
        }
        guard FileAccess.kind(of: path + "/outputs") == .folder else { return step }
        for (name, file) in try features(in: path + "/outputs") {
            step.outputs[name] = .value(try value(inFile: file, for: output(name), isOutput: true))
        }
        return step
    }

    /// The files of a folder by the feature that each contains.
    private func features(in folder: String) throws(ModelError) -> [(name: String, path: String)] {
        try FileAccess.names(in: folder).filter { !$0.hasPrefix(".") }.map { (Self.stem($0), folder + "/" + $0) }
    }

    // MARK: Features

    func input(_ name: String) throws(ModelError) -> SpecFeatureDescription {
        try feature(name, among: interface.input, "input")
    }

    func output(_ name: String) throws(ModelError) -> SpecFeatureDescription {
        try feature(name, among: interface.output, "output")
    }

    private func feature(
        _ name: String,
        among features: [SpecFeatureDescription],
        _ kind: String
    ) throws(ModelError) -> SpecFeatureDescription {
        if let feature = features.first(where: { $0.name == name }) { return feature }
        let list = features.map { "'\($0.name)' \($0.typeText)" }.joined(separator: ", ")
        throw ModelError(.invalidInput, "the model has no \(kind) '\(name)'; it has \(list)")
    }

    /// Reads a value from its own file: `.npy`, `.json`, `.txt`, or an image.
    func value(
        inFile path: String,
        for feature: SpecFeatureDescription,
        isOutput: Bool = false
    ) throws(ModelError) -> FeatureData {
        if case .imageType(let image)? = feature.type.type, !path.hasSuffix(".npy") {
            return try Picture.read(path, image, scales: !isOutput)
        }
        let bytes = try FileAccess.read(path)
        return try withErrorContext(path) { () throws(ModelError) in
            if path.hasSuffix(".npy") {
                let array = try NumpyArray.read(bytes, name: FileAccess.name(of: path))
                return try ArrayVectors.value(array, for: feature)
            }
            if path.hasSuffix(".json") { return try FeatureJSON.data(try JSONReader.read(bytes), for: feature) }
            guard case .stringType? = feature.type.type, path.hasSuffix(".txt") else {
                throw ModelError(
                    .invalidInput,
                    "'\(feature.name)' (\(feature.typeText)) comes as .npy, .json, text or picture"
                )
            }
            var text = String(decoding: bytes, as: UTF8.self)
            if text.last?.isNewline == true { text.removeLast() }
            return .string(text)
        }
    }

    /// The name of a file without its folder and extension.
    static func stem(_ path: String) -> String {
        let name = FileAccess.name(of: path)
        return name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
    }
}

/// Reads test vectors in JSON.
private struct ObjectVectors {
    private let reader: VectorReader
    /// The folder that paths of files are relative to.
    private let folder: String

    init(_ reader: VectorReader, folder: String) { (self.reader, self.folder) = (reader, folder) }

    /// A list of cases, or an object with `cases` and tolerances.
    func vectors(_ json: JSONValue) throws(ModelError) -> TestVectors {
        var list = json
        var tolerances = ToleranceTable()
        if case .object(let members) = json, json["inputs"] == nil, json["steps"] == nil {
            for member in members {
                switch member.name {
                case "cases": list = member.value
                case "tolerance": tolerances.all = try tolerance(member.value, "tolerance")
                case "tolerances":
                    guard case .object(let outputs) = member.value else {
                        throw malformed("tolerances", "an object by output")
                    }
                    for output in outputs {
                        _ = try reader.output(output.name)
                        tolerances.outputs[output.name] = try tolerance(output.value, "tolerances › \(output.name)")
                    }
                case "image_tolerance":
                    guard let maximum = number(member.value["largest"]), let mean = number(member.value["mean"]) else {
                        throw malformed("image_tolerance", #"an object such as {"largest": 4, "mean": 0.5}"#)
                    }
                    tolerances.images = ImageTolerance(maximum: maximum, mean: mean)
                default: throw unknown(member.name, "cases, tolerance, tolerances and image_tolerance")
                }
            }
            if json["cases"] == nil { throw ModelError(.invalidInput, "there is no list 'cases'") }
        }
        guard case .array(let elements) = list else {
            return TestVectors(cases: [try testCase(list, named: "0")], tolerances: tolerances)
        }
        var cases: [TestCase] = []
        for (index, element) in elements.enumerated() {
            cases.append(
                try withErrorContext("case \(index)") { () throws(ModelError) in
                    try testCase(element, named: "\(index)")
                }
            )
        }
        return TestVectors(cases: cases, tolerances: tolerances)
    }

    func testCase(_ json: JSONValue, named name: String) throws(ModelError) -> TestCase {
        guard case .object(let members) = json else {
            throw ModelError(.invalidInput, "a case is an object with 'inputs' and 'outputs', or with 'steps'")
        }
        var test = TestCase(name: name, steps: [])
        for member in members {
            switch (member.name, member.value) {
            case ("name", .string(let name)): test.name = name
            case ("steps", .array(let steps)):
                for (index, step) in steps.enumerated() {
                    test.steps.append(
                        try withErrorContext("step \(index)") { () throws(ModelError) in
                            try self.step(step["inputs"], step["outputs"])
                        }
                    )
                }
            case ("inputs", _), ("outputs", _): break
            default: throw unknown(member.name, "name, inputs and outputs, or steps")
            }
        }
        guard json["steps"] == nil else { return test }
        test.steps = [try step(json["inputs"], json["outputs"])]
        return test
    }

    private func step(_ inputs: JSONValue?, _ outputs: JSONValue?) throws(ModelError) -> TestStep {
        guard case .object(let inputs)? = inputs else {
            throw malformed("inputs", "an object with a value for each input")
        }
        var step = TestStep(inputs: [:], outputs: [:])
        for member in inputs { step.inputs[member.name] = try value(member.value, try reader.input(member.name)) }
        switch outputs {
        case nil: break
        case .object(let members)?:
            for member in members {
                step.outputs[member.name] = .value(
                    try value(member.value, try reader.output(member.name), isOutput: true)
                )
            }
        default: throw malformed("outputs", "an object with a value for each output")
        }
        return step
    }

    /// A value, or for images and arrays the path of its file.
    private func value(
        _ json: JSONValue,
        _ feature: SpecFeatureDescription,
        isOutput: Bool = false
    ) throws(ModelError) -> FeatureData {
        switch (feature.type.type, json) {
        case (.imageType?, .string(let path)), (.multiArrayType?, .string(let path)):
            let location = path.hasPrefix("/") ? path : folder + "/" + path
            return try reader.value(inFile: location, for: feature, isOutput: isOutput)
        default: return try FeatureJSON.data(json, for: feature)
        }
    }

    private func tolerance(_ json: JSONValue, _ field: String) throws(ModelError) -> Tolerance {
        if let both = number(json) { return Tolerance(absolute: both, relative: both) }
        guard case .object = json else { throw malformed(field, #"a number or {"absolute": …, "relative": …}"#) }
        return Tolerance(absolute: number(json["absolute"]) ?? 0, relative: number(json["relative"]) ?? 0)
    }

    private func number(_ json: JSONValue?) -> Double? {
        switch json {
        case .integer(let value)? where value >= 0: Double(value)
        case .number(let value)? where value >= 0: value
        default: nil
        }
    }

    private func malformed(_ field: String, _ detail: String) -> ModelError {
        ModelError(.invalidInput, "'\(field)' is \(detail)")
    }

    private func unknown(_ field: String, _ known: String) -> ModelError {
        ModelError(.invalidInput, "'\(field)' is not a field that is known; there are \(known)")
    }
}
