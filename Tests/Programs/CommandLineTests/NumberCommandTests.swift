import Foundation
import MLFiles
import MLSpecification
import TestSupport
import Testing

/// Numbers on the command line, in files and in answers, against the C library.
struct NumberCommandTests {
    private let folder: CommandFolder

    init() throws { folder = try CommandFolder() }

    /// A model whose outputs are its inputs.
    private func identity(_ features: SpecFeatureDescription...) throws -> String {
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = features
        model.description_p.output = features
        model.description_p.predictedFeatureName = features[0].name
        model.identity = SpecIdentity()
        return try folder.write(Data(SpecificationReader.encode(model)), "Identity.mlmodel")
    }

    private func number(_ name: String) -> SpecFeatureDescription {
        var feature = SpecFeatureDescription()
        feature.name = name
        feature.type.doubleType = SpecDoubleFeatureType()
        return feature
    }

    /// The numbers in nested lists.
    private func numbers(_ json: JSONValue?) -> [Double] {
        switch json {
        case .array(let list)?: list.flatMap(numbers)
        case .integer(let value)?: [Double(value)]
        case .number(let value)?: [value]
        case .string(let text)?: [Double(text) ?? 0]
        default: []
        }
    }

    private func differences(_ texts: [String], _ numbers: [Double]) -> [String] {
        guard texts.count == numbers.count else { return ["\(numbers.count) numbers for \(texts.count)"] }
        return zip(texts, numbers).filter { NumberTexts.reference($0).bitPattern != $1.bitPattern }.map(\.0)
    }

    @Test func arraysOfJSONFilesAndArgumentsAreTheNearestDoubles() throws {
        let texts = Array(NumberTexts(1_000_000, seed: 5))
        let model = try identity(UpdatableModels.array("x", [1_000_000], .double))
        let file = try folder.write("[" + texts.joined(separator: ", ") + "]", "x.json")
        let all = try folder.write("{\"x\": [" + texts.joined(separator: ",\n") + "]}", "all.json")
        for input in ["x=\(file)", all] {
            let run = try coreml("predict", model, "-i", input, "--json")
            #expect(run.status == 0, "\(run.errors)")
            let wrong = differences(texts, numbers(try JSONReader.read(Array(run.output.utf8))["x"]))
            #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
        }
        let some = Array(texts.prefix(3000))
        let short = try identity(UpdatableModels.array("x", [3000], .double))
        let run = try coreml("predict", short, "-i", "x=[\(some.joined(separator: ","))]", "--json")
        let wrong = differences(some, numbers(try JSONReader.read(Array(run.output.utf8))["x"]))
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5)) \(run.errors)")
    }

    @Test func cellsOfRowsAreTheNearestDoubles() throws {
        let texts = Array(NumberTexts(250_000, seed: 6))
        let lists = stride(from: 0, to: 750_000, by: 300).map { _ in 300 }
        var rest = NumberTexts(750_000, seed: 7)
        let model = try identity(number("x"))
        let csv = try folder.write("x\n" + texts.joined(separator: "\n") + "\n", "x.csv")
        let run = try coreml("predict", model, "--csv", csv, "--json")
        #expect(run.status == 0, "\(run.errors)")
        guard case .array(let rows) = try JSONReader.read(Array(run.output.utf8)) else { throw CancellationError() }
        let wrong = differences(texts, rows.flatMap { numbers($0["x"]) })
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")

        let arrays = try identity(UpdatableModels.array("x", [300], .double))
        var expected: [String] = []
        var table = "x\n"
        for count in lists {
            let row = (0..<count).compactMap { _ in rest.next() }
            expected += row
            table += "\"[\(row.joined(separator: ","))]\"\n"
        }
        let second = try coreml("predict", arrays, "--csv", try folder.write(table, "arrays.csv"), "--json")
        guard case .array(let answers) = try JSONReader.read(Array(second.output.utf8)) else {
            throw CancellationError()
        }
        let others = differences(expected, answers.flatMap { numbers($0["x"]) })
        #expect(others.isEmpty, "\(others.count): \(others.prefix(5))")
    }

    /// A model that gives its input is right on every row, whether the truth has the same digits or the shortest.
    @Test func evaluationComparesTheNumbersWritten() throws {
        let texts = Array(NumberTexts(1_000_000, seed: 8)).filter { abs(NumberTexts.reference($0)) < 1e150 }
        let model = try identity(number("x"))
        let rows = texts.enumerated().map { index, text in
            "\(text),\(index % 2 == 0 ? text : NumberTexts.reference(text).description)"
        }
        let csv = try folder.write("x,truth\n" + rows.joined(separator: "\n") + "\n", "x.csv")
        let run = try coreml("evaluate", model, csv, "--target", "truth", "--json")
        let scores = try CommandFolder.last(run)["scores"] as? [String: Any]
        #expect(scores?["rootMeanSquaredError"] as? Double == 0, "\(run.output) \(run.errors)")
        #expect(scores?["maximumError"] as? Double == 0)
    }

    /// Samples of a nearest-neighbours classifier are kept as float32.
    @Test(arguments: ["csv", "jsonl"]) func trainingDataOfUpdatesAreTheNearestNumbers(_ kind: String) throws {
        var texts = NumberTexts(.max, seed: 9)
        var specification = UpdatableModels.neighbors(k: 1)
        specification.description_p.input[0].type.multiArrayType.shape = [1000]
        specification.description_p.trainingInput[0].type.multiArrayType.shape = [1000]
        specification.kNearestNeighborsClassifier.nearestNeighborsIndex.numberOfDimensions = 1000
        let model = try folder.write(Data(SpecificationReader.encode(specification)), "Points.mlmodel")
        var expected: [UInt32] = []
        var lines = kind == "csv" ? ["x,label"] : []
        for _ in 0..<1000 {
            var row: [String] = []
            while row.count < 1000, let text = texts.next() {
                if abs(NumberTexts.reference(text)) < 1e38 { row.append(text) }
            }
            expected += row.map { Float(NumberTexts.reference($0)).bitPattern }
            let list = "[\(row.joined(separator: ","))]"
            lines.append(kind == "csv" ? "\"\(list)\",a" : "{\"x\":\(list),\"label\":\"a\"}")
        }
        let run = try coreml("update", model, try folder.write(lines.joined(separator: "\n") + "\n", "data.\(kind)"))
        #expect(run.status == 0, "\(run.errors)")
        let updated = try SpecificationReader.decode([UInt8](try folder.data("Points.mlmodel")))
        let samples = updated.kNearestNeighborsClassifier.nearestNeighborsIndex.floatSamples.flatMap(\.vector)
        #expect(samples.map(\.bitPattern) == expected)
    }

    @Test func valuesOfArgumentsAreTheNearestDoubles() throws {
        let names = (0..<400).map { "x\($0)" }
        var model = SpecModel()
        model.specificationVersion = 4
        model.description_p.input = names.map { number($0) }
        model.description_p.output = model.description_p.input
        model.identity = SpecIdentity()
        let path = try folder.write(Data(SpecificationReader.encode(model)), "Many.mlmodel")
        let texts = Array(NumberTexts(400, seed: 10))
        let arguments = zip(names, texts).flatMap { ["-i", "\($0)=\($1)"] }
        for json in [true, false] {
            let run = try coreml(arguments: ["predict", path] + arguments + (json ? ["--json"] : []))
            #expect(run.status == 0, "\(run.errors)")
            var answers: [String: Double] = [:]
            if json {
                let object = try JSONReader.read(Array(run.output.utf8))
                for name in names { answers[name] = numbers(object[name]).first }
            } else {
                for line in run.output.split(separator: "\n") {
                    let parts = line.split(separator: ": ")
                    answers[String(parts[0])] = NumberTexts.reference(String(parts[1]))
                }
            }
            let wrong = differences(texts, names.map { answers[$0] ?? .nan })
            #expect(wrong.isEmpty, "\(wrong)")
        }
    }

    /// The number parser of `-i name=value`.
    @Test func numbersOfArgumentsAreReadAsTheNearestDoubles() {
        let wrong = NumberTexts(1_000_000, seed: 12).filter {
            Double($0)?.bitPattern != NumberTexts.reference($0).bitPattern
        }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
    }

    @Test func largeArraysComeBackAsTheyWere() throws {
        let model = try identity(UpdatableModels.array("x", [3000, 3000]))
        var header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3000, 3000), }"
        header += String(repeating: " ", count: 117 - header.utf8.count) + "\n"
        var file = Data([0x93] + Array("NUMPY".utf8) + [1, 0, 118, 0] + Array(header.utf8))
        var texts = NumberTexts(0, seed: 11)
        let numbers = (0..<9_000_000).map { _ in
            Float(bitPattern: UInt32(truncatingIfNeeded: texts.double().bitPattern) & 0xBFFF_FFFF)
        }
        numbers.withUnsafeBytes { file.append(contentsOf: $0) }
        let array = try folder.write(file, "x.npy")
        var run = try coreml("predict", model, "-i", "x=\(array)", "--output", folder.path("y.json"))
        #expect(run.status == 0, "\(run.errors)")
        run = try coreml("predict", model, "-i", folder.path("y.json"), "--output", folder.path("z.npz"))
        #expect(run.status == 0, "\(run.errors)")
        let rows = try JSONReader.read([UInt8](try folder.data("y.json")))["x"]
        let wrong = zip(numbers, self.numbers(rows)).filter { Double($0) != $1 }
        #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
    }

    @Test func whatIsNoFiniteNumberIsAStringBothWays() throws {
        let array = try identity(UpdatableModels.array("x", [4], .double))
        var run = try coreml("predict", array, "-i", #"x=["nan", "-inf", "Infinity", null]"#, "--json")
        #expect(run.output == "{\"x\":[\"nan\",\"-inf\",\"inf\",\"nan\"]}\n", "\(run.errors)")
        run = try coreml(
            "predict",
            array,
            "-i",
            "x=\(try folder.write(#"["nan", "-inf", "inf", -0.0]"#, "x.json"))",
            "--json"
        )
        #expect(run.output == "{\"x\":[\"nan\",\"-inf\",\"inf\",-0.0]}\n", "\(run.errors)")
        let scalar = try identity(number("x"))
        for (given, answer) in [("-inf", "\"-inf\""), ("nan", "\"nan\""), ("null", "\"nan\""), ("\"inf\"", "\"inf\"")] {
            run = try coreml("predict", scalar, "-i", "x=\(given)", "--json")
            #expect(run.output == "{\"x\":\(answer)}\n", "\(run.errors)")
        }
        for (given, part) in [
            ("x=\"3.5\"", "takes number, not \"3.5\""), ("x=[1]", "not a list of 1"), ("x=1.5.2", "is not a value for"),
        ] {
            run = try coreml("predict", scalar, "-i", given)
            #expect(run.status == 1 && run.errors.contains(part), "\(given): \(run.errors)")
        }
    }

    @Test func wholeNumbersAreExactAndStayWhole() throws {
        let model = try identity(UpdatableModels.integer("n"))
        for (given, answer) in [
            ("9007199254740993", "9007199254740993"), ("-9223372036854775808", "-9223372036854775808"), ("3.0", "3"),
            ("1e3", "1000"),
        ] {
            for arguments in [["--json"], []] {
                let run = try coreml(arguments: ["predict", model, "-i", "n=\(given)"] + arguments)
                #expect(run.output.contains(arguments.isEmpty ? "n: \(answer)" : "{\"n\":\(answer)}"), "\(run.errors)")
            }
        }
        for given in ["2.7", "9223372036854775808", "null", "\"3\""] {
            let run = try coreml("predict", model, "-i", "n=\(given)")
            #expect(run.status == 1 && run.errors.contains("'n' takes"), "\(run.output) \(run.errors)")
        }
    }
}
