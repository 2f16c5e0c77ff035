import MLFeatureFiles
import MLFeatures
import MLFiles
package import MLNumerics

/// Writes test vectors, in the formats that `VectorReader` reads.
package enum VectorWriter {
    /// Writes a `.npz`, `.json` or `.jsonl` file.
    ///
    /// Images of the latter two are PNG files in a folder beside it.
    package static func write(_ vectors: TestVectors, to path: String) throws(ModelError) {
        if path.hasSuffix(".npz") {
            return try FileAccess.write(try NumpyArchive.write(try arrays(vectors)), to: path)
        }
        guard path.hasSuffix(".json") || path.hasSuffix(".jsonl") else {
            throw ModelError(.invalidInput, "test vectors are written as .npz, .json or .jsonl", at: path)
        }
        let folder = FileAccess.folder(of: path)
        let pictures = VectorReader.stem(path) + "-pictures"
        let file = try NewFile(replacing: path)
        let writer = JSONWriter { (bytes) throws(ModelError) in try file.append(bytes) }
        if path.hasSuffix(".json") { try file.append(Array("[".utf8)) }
        for (index, test) in vectors.cases.enumerated() {
            let json = try object(test, index) { (image, name) throws(ModelError) in
                try FileAccess.makeFolder("\(folder)/\(pictures)")
                try FileAccess.write(try Picture.png(image), to: "\(folder)/\(pictures)/\(name).png")
                return "\(pictures)/\(name).png"
            }
            try write(json, writer)
            let isLast = index == vectors.cases.count - 1
            try writer.finish()
            try file.append(Array((path.hasSuffix(".jsonl") ? "\n" : isLast ? "" : ",\n").utf8))
        }
        if path.hasSuffix(".json") { try file.append(Array("]\n".utf8)) }
        try file.finish()
    }

    // MARK: Arrays

    private static func arrays(_ vectors: TestVectors) throws(ModelError) -> [String: Tensor] {
        var arrays: [String: Tensor] = [:]
        for test in vectors.cases {
            for (number, step) in test.steps.enumerated() {
                let prefix = test.steps.count > 1 ? "\(test.name)/\(number)/" : "\(test.name)/"
                for (name, value) in step.inputs { add(value, prefix + "in:" + name, &arrays) }
                for (name, value) in step.outputs { add(value, prefix + "out:" + name, &arrays) }
            }
        }
        return arrays
    }

    private static func add(_ value: ExpectedValue, _ name: String, _ arrays: inout [String: Tensor]) {
        switch value {
        case .value(let data): add(data, name, &arrays)
        case .scores(let labels, let values):
            arrays[name] = Tensor(values: values, scalarType: .float64, shape: [values.count])
            arrays[name + ".labels"] = Tensor(strings: labels, shape: [labels.count])
        }
    }

    private static func add(_ data: FeatureData, _ name: String, _ arrays: inout [String: Tensor]) {
        switch data {
        case .tensor(let tensor): arrays[name] = tensor
        case .double(let value): arrays[name] = Tensor(values: [value], scalarType: .float64, shape: [])
        case .int64(let value): arrays[name] = Tensor(elements: [value], scalarType: .int64, shape: [])
        case .string(let text): arrays[name] = Tensor(strings: [text], shape: [])
        case .image(let image): arrays[name] = Picture.array(image)
        case .sequence(.integers(let values)):
            arrays[name] = Tensor(elements: values, scalarType: .int64, shape: [values.count])
        case .sequence(.strings(let texts)): arrays[name] = Tensor(strings: texts, shape: [texts.count])
        case .dictionary(let dictionary):
            let members = dictionary.byName.sorted { $0.key < $1.key }
            add(.scores(labels: members.map(\.key), values: members.map(\.value)), name, &arrays)
        }
    }

    // MARK: Objects

    /// A JSON value whose arrays are tensors.
    private indirect enum Node {
        case text(String)
        case number(Double)
        case integer(Int64)
        case tensor(Tensor)
        case list([Node])
        case object([(key: String, value: Node)])
    }

    private static func object(
        _ test: TestCase,
        _ index: Int,
        _ picture: (ImageBuffer, String) throws(ModelError) -> String
    ) throws(ModelError) -> Node {
        var steps: [[(key: String, value: Node)]] = []
        for (number, step) in test.steps.enumerated() {
            var (inputs, outputs) = ([(key: String, value: Node)](), [(key: String, value: Node)]())
            func file(_ name: String) -> String {
                "\(index)-\(number)-" + String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
            }
            for (name, data) in step.inputs.sorted(by: { $0.key < $1.key }) {
                inputs.append((name, try node(data, file("in-\(name)"), picture)))
            }
            for (name, value) in step.outputs.sorted(by: { $0.key < $1.key }) {
                switch value {
                case .value(let data): outputs.append((name, try node(data, file("out-\(name)"), picture)))
                case .scores(let labels, let values):
                    outputs.append((name, .object(zip(labels, values).map { ($0, .number($1)) })))
                }
            }
            steps.append([("inputs", .object(inputs)), ("outputs", .object(outputs))])
        }
        let name = (key: "name", value: Node.text(test.name))
        return .object([name] + (steps.count == 1 ? steps[0] : [("steps", .list(steps.map { .object($0) }))]))
    }

    private static func node(
        _ data: FeatureData,
        _ file: String,
        _ picture: (ImageBuffer, String) throws(ModelError) -> String
    ) throws(ModelError) -> Node {
        switch data {
        case .tensor(let tensor): return .tensor(tensor)
        case .double(let value): return .number(value)
        case .int64(let value): return .integer(value)
        case .string(let text): return .text(text)
        case .image(let image): return .text(try picture(image, file))
        case .sequence(.integers(let values)): return .list(values.map { .integer($0) })
        case .sequence(.strings(let texts)): return .list(texts.map { .text($0) })
        case .dictionary(let dictionary):
            return .object(dictionary.byName.sorted { $0.key < $1.key }.map { ($0.key, .number($0.value)) })
        }
    }

    private static func write(_ node: Node, _ writer: JSONWriter) throws(ModelError) {
        func asModelError(_ body: () throws -> Void) throws(ModelError) {
            do { try body() } catch let error as ModelError { throw error } catch {
                throw ModelError(.io, "\(error)")
            }
        }
        switch node {
        case .text(let text): try writer.string(text)
        case .number(let value): try writer.number(value)
        case .integer(let value): try writer.integer(value)
        case .tensor(let tensor): try writer.tensor(tensor)
        case .list(let nodes):
            try asModelError { try writer.list(nodes) { (node) throws(ModelError) in try write(node, writer) } }
        case .object(let members):
            try asModelError { try writer.object(members) { (node) throws(ModelError) in try write(node, writer) } }
        }
    }
}
