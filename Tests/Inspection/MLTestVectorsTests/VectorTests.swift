import MLFeatureFiles
import MLFeatures
import MLFiles
import MLNumerics
import MLSpecification
import MLTestVectors
import SwiftProtobuf
import Testing

/// Reading, writing and checking stored inputs and outputs.
struct VectorTests {
    private let folder: VectorFolder

    init() throws { folder = try VectorFolder() }

    private func read(_ name: String, _ engine: Doubling = Doubling()) throws -> TestVectors {
        try VectorReader(engine.interface).read(folder.path(name))
    }

    private func results(_ vectors: TestVectors, _ tolerances: ToleranceTable = ToleranceTable()) -> [CaseResult] {
        let run = VectorRun(Doubling(), vectors, tolerances: tolerances)
        return vectors.cases.map(run.result)
    }

    private func allPass(_ vectors: TestVectors, _ tolerances: ToleranceTable = ToleranceTable()) -> Bool {
        results(vectors, tolerances).allSatisfy(\.hasPassed)
    }

    private func error(_ name: String) -> String {
        do {
            _ = try read(name)
            return ""
        } catch { return "\(error)" }
    }

    // MARK: Arrays

    @Test func anArchiveHoldsACaseForEachElementOfTheFirstAxis() throws {
        try folder.write(
            NumpyArchive.write([
                "x": Tensor([1, 2, 3, 4, 5, 6] as [Float], shape: [3, 2]),
                "y": Tensor([2, 4, 6, 8, 10, 13] as [Float], shape: [3, 2]),
                "label": Tensor(strings: ["even", "even", "even"], shape: [3]),
            ]),
            "cases.npz"
        )
        let vectors = try read("cases.npz")
        #expect(vectors.cases.map(\.name) == ["0", "1", "2"])
        let results = results(vectors)
        #expect(results.map(\.hasPassed) == [true, true, false])
        guard case .failed(let deviations)? = results.last?.outcome else {
            Issue.record("the last case is wrong")
            return
        }
        let deviation = try #require(deviations.first?.deviation)
        #expect(deviations.count == 1 && deviation.output == "y" && deviation.location == "[1]")
        #expect(deviation.expected == "13" && deviation.got == "12" && deviation.wrong == 1 && deviation.count == 2)
    }

    @Test func arraysOfNamedCasesAndStepsAreTakenWhole() throws {
        func one(_ value: Float) -> Tensor { Tensor([value, value], shape: [2]) }
        try folder.write(
            NumpyArchive.write([
                "a/in:x": one(1), "a/out:y": one(2), "long/0/in:x": one(1),
                "long/0/out:count": Tensor(values: [1], scalarType: .int64, shape: []),
                "long/1/in:x": one(1), "long/1/out:count": Tensor(values: [2], scalarType: .int64, shape: []),
            ]),
            "cases.npz"
        )
        let vectors = try read("cases.npz")
        #expect(vectors.cases.map(\.name) == ["a", "long"] && vectors.cases.map(\.steps.count) == [1, 2])
        #expect(allPass(vectors))
        // The state of one case is not that of the next: the count begins again.
        #expect(allPass(TestVectors(cases: vectors.cases + vectors.cases)))
        try folder.write(NumpyArchive.write(["in:x": one(3), "out:y": one(6)]), "single.npz")
        #expect(try read("single.npz").cases.map(\.name) == ["single"])
    }

    @Test func dictionariesSequencesAndPicturesHaveAFormAsArrays() throws {
        try folder.write(
            NumpyArchive.write([
                "x": Tensor([1, 1, 2, 2] as [Float], shape: [2, 2]),
                "scores": Tensor(values: [2, 1, 4, 1], scalarType: .float64, shape: [2, 2]),
                "scores.labels": Tensor(strings: ["sum", "one"], shape: [2]),
                "words": Tensor(strings: ["a", "b", "c"], shape: [3]),
                "words.lengths": Tensor(values: [1, 2], scalarType: .int64, shape: [2]),
                "picture": Tensor(
                    elements: [10, 20, 30, 40, 50, 60, 10, 20, 30, 40, 50, 61] as [UInt8],
                    scalarType: .uint8,
                    shape: [2, 1, 2, 3]
                ),
            ]),
            "cases.npz"
        )
        let vectors = try read("cases.npz")
        #expect(vectors.cases.count == 2)
        guard case .sequence(.strings(let words))? = vectors.cases[1].steps[0].inputs["words"] else {
            Issue.record("the second case has two words")
            return
        }
        #expect(words == ["b", "c"])
        #expect(allPass(vectors), "\(results(vectors))")
    }

    @Test func whatAnArchiveCannotMeanIsNamed() throws {
        let x = Tensor([1, 2] as [Float], shape: [1, 2])
        try folder.write(NumpyArchive.write(["z": x]), "a.npz")
        #expect(error("a.npz").contains("'z' is called after no feature") && error("a.npz").contains("'x'"))
        try folder.write(NumpyArchive.write(["x": x, "case/in:x": x]), "b.npz")
        #expect(error("b.npz").contains("use one form"))
        try folder.write(NumpyArchive.write(["x": x, "y": Tensor([1, 2, 3, 4] as [Float], shape: [2, 2])]), "c.npz")
        #expect(error("c.npz").contains("cases, others"))
        try folder.write(NumpyArchive.write(["long/0/in:x": x, "long/2/in:x": x]), "d.npz")
        #expect(error("d.npz").contains("without gaps"))
        try folder.write(NumpyArchive.write(["x": x, "scores": x]), "e.npz")
        #expect(error("e.npz").contains("'scores.labels'"))
        try folder.write(NumpyArchive.write(["x": Tensor(strings: ["a"], shape: [1])]), "f.npz")
        #expect(error("f.npz").contains("'x' is float32"))
        try folder.write(
            NumpyArchive.write([
                "x": x, "words": Tensor(strings: ["a"], shape: [1]),
                "words.lengths": Tensor(values: [4], scalarType: .int64, shape: [1]),
            ]),
            "g.npz"
        )
        #expect(error("g.npz").contains("do not add up"))
        try folder.write([1, 2, 3], "h.npz")
        #expect(error("h.npz").contains("not a NumPy archive"))
        #expect(error("none.npz").contains("no such file"))
    }

    // MARK: Objects

    @Test func casesInJSONSayTheirToleranceAndSteps() throws {
        try folder.write(
            #"""
            {"tolerance": {"absolute": 0.5}, "tolerances": {"count": {"absolute": 1}}, "image_tolerance": {"largest": 9, "mean": 2},
             "cases": [
              {"name": "near", "inputs": {"x": [1, 2]}, "outputs": {"y": [2.4, 4], "count": 2}},
              {"name": "far", "inputs": {"x": [1, 2]}, "outputs": {"y": [2.6, 4]}},
              {"name": "steps", "steps": [{"inputs": {"x": [1, 1]}}, {"inputs": {"x": [1, 1]}, "outputs": {"count": 2}}]}]}
            """#,
            "cases.json"
        )
        let vectors = try read("cases.json")
        #expect(vectors.tolerances.images == ImageTolerance(maximum: 9, mean: 2))
        #expect(results(vectors).map(\.hasPassed) == [true, false, true], "\(results(vectors))")
        // The caller's options take precedence over the file's.
        let strict = ToleranceTable(all: .exact)
        #expect(results(vectors, strict).map(\.hasPassed) == [false, false, true])
        try folder.write(
            #"{"inputs": {"x": [1, 2], "words": ["a"], "picture": "p.png"}, "outputs": {"label": "even"}}"# + "\n\n"
                + #"{"name": "odd", "inputs": {"x": [1, 2]}, "outputs": {"label": "odd"}}"# + "\n",
            "cases.jsonl"
        )
        #expect(error("cases.jsonl").contains("p.png"))
    }

    @Test func whatJSONCannotMeanIsNamed() throws {
        for (text, part) in [
            ("[]", "no cases"), ("{", "JSON"), (#"{"case": []}"#, "'case' is not a field"),
            (#"{"tolerance": 1}"#, "no list 'cases'"),
            (#"[{"inputs": {"q": 1}}]"#, "no input 'q'"),
            (#"[{"inputs": {"x": 1}, "outputs": {"q": 1}}]"#, "no output 'q'"),
            (#"[{"outputs": {}}]"#, "'inputs' is an object"), (#"[{"inputs": {"x": "a.npy"}}]"#, "a.npy"),
            (#"[{"inputs": {"words": 4}}]"#, "list in JSON"), (#"[3]"#, "a case is an object"),
            (#"{"tolerance": "wide", "cases": []}"#, "'tolerance' is a number"),
        ] {
            try folder.write(text, "cases.json")
            #expect(error("cases.json").contains(part), "\(text): \(error("cases.json"))")
        }
    }

    // MARK: Folders

    @Test func foldersHoldCasesAndFilesOfCases() throws {
        let x = try NumpyArray.write(Tensor([1, 2] as [Float], shape: [2]))
        try folder.write(x, "set/first/inputs/x.npy")
        try folder.write("even\n", "set/first/outputs/label.txt")
        try folder.write(x, "set/steps/0/inputs/x.npy")
        try folder.write(x, "set/steps/1/inputs/x.npy")
        try folder.write("2", "set/steps/1/outputs/count.json")
        try folder.write(#"[{"name": "more", "inputs": {"x": [1, 2]}, "outputs": {"y": [2, 4]}}]"#, "set/more.json")
        try folder.write("what this is", "set/notes.txt")
        let vectors = try read("set")
        #expect(vectors.cases.map(\.name) == ["first", "more", "steps"])
        #expect(allPass(vectors), "\(results(vectors))")
        #expect(try read("set/first").cases.count == 1)
    }

    // MARK: Comparing

    @Test func numbersThatAreNoneAreExpectedWhereTheyStand() {
        let comparison = OutputComparison(ToleranceTable())
        func deviation(_ got: [Double], _ expected: [Double]) -> Deviation? {
            comparison.deviation(
                of: "y",
                .tensor(Tensor(values: got, scalarType: .float64, shape: [got.count])),
                from: .value(.tensor(Tensor(values: expected, scalarType: .float64, shape: [expected.count])))
            )
        }
        #expect(deviation([.nan, .infinity, 1], [.nan, .infinity, 1.0005]) == nil)
        #expect(deviation([.nan, 5], [1, 5])?.location == "[0]")
        #expect(deviation([1, .nan, 9], [1, 2, 3])?.location == "[1]", "what is no number lies furthest")
        #expect(deviation([-.infinity], [.infinity]) != nil)
        #expect(deviation([1, 2], [1, 2, 3])?.message == "another shape")
        #expect(deviation([100.1], [100]) == nil && deviation([101.2], [100]) != nil, "relative as well")
    }

    @Test func extentsOfOneAreNoDifferenceOfShape() {
        let comparison = OutputComparison(ToleranceTable())
        let got = Tensor([1, 2] as [Float], shape: [1, 2, 1])
        let flat = Tensor([1, 2] as [Float], shape: [2])
        #expect(comparison.deviation(of: "y", .tensor(got), from: .value(.tensor(flat))) == nil)
        let wide = Tensor([1, 2, 3, 4] as [Float], shape: [2, 2])
        let long = Tensor([1, 2, 3, 4] as [Float], shape: [4])
        #expect(comparison.deviation(of: "y", .tensor(wide), from: .value(.tensor(long)))?.message == "another shape")
    }

    @Test func kindsKeysAndIntegersAreExact() {
        let comparison = OutputComparison(ToleranceTable(all: Tolerance(absolute: 10, relative: 0)))
        func deviation(_ got: FeatureData, _ expected: FeatureData) -> String? {
            comparison.deviation(of: "o", got, from: .value(expected))?.message
        }
        #expect(deviation(.int64(3), .int64(4)) == "another number")
        #expect(deviation(.string("a"), .string("b")) == "another text")
        #expect(deviation(.string("a"), .int64(4)) == "another kind of value")
        #expect(deviation(.dictionary(.strings(["a": 1])), .dictionary(.strings(["b": 1]))) == "other keys")
        #expect(deviation(.dictionary(.integers([1: 1])), .dictionary(.strings(["1": 2]))) == nil)
        #expect(deviation(.sequence(.integers([1])), .sequence(.integers([1, 2]))) == "another length")
        #expect(
            deviation(
                .tensor(Tensor([1, 2] as [Int32], shape: [2])),
                .tensor(Tensor([1, 3] as [Int32], shape: [2]))
            )?.hasPrefix("off by 1") == true
        )
    }

    @Test func picturesMayDifferByAFewLevels() {
        func picture(_ level: UInt8, at location: Int? = nil) -> FeatureData {
            let image = ImageBuffer(width: 4, height: 2, format: .rgba8)
            for pixel in 0..<8 {
                image.address.storeBytes(
                    of: pixel == location ? level : 100,
                    toByteOffset: pixel * 4 + 1,
                    as: UInt8.self
                )
            }
            return .image(image)
        }
        let comparison = OutputComparison(ToleranceTable())
        #expect(comparison.deviation(of: "p", picture(0), from: .value(picture(104, at: 5))) == nil)
        let far = comparison.deviation(of: "p", picture(0), from: .value(picture(140, at: 5)))
        #expect(far?.location == "row 1, column 1, green" && far?.expected == "140" && far?.got == "100")
        let small = FeatureData.image(ImageBuffer(width: 2, height: 2, format: .rgba8))
        #expect(comparison.deviation(of: "p", small, from: .value(picture(0)))?.message == "another size")
        let strict = OutputComparison(ToleranceTable(images: ImageTolerance(maximum: 50, mean: 0.1)))
        #expect(strict.deviation(of: "p", picture(0), from: .value(picture(140, at: 5))) != nil, "the mean counts, too")
    }

    // MARK: Recording

    @Test(arguments: ["cases.npz", "cases.json", "cases.jsonl"])
    func whatIsRecordedPasses(_ name: String) throws {
        let picture = ImageBuffer(width: 2, height: 1, format: .bgra8)
        picture.address.storeBytes(of: 200, as: UInt8.self)
        let inputs: [String: FeatureData] = [
            "x": .tensor(Tensor([1, 2.5] as [Float], shape: [2])), "words": .sequence(.strings(["ein", "Wört"])),
            "picture": .image(picture),
        ]
        var test = TestCase(name: "first", steps: [TestStep(inputs: inputs, outputs: [:])])
        let single = try VectorRun.recorded(test, by: Doubling())
        test.name = "second"
        test.steps.append(test.steps[0])
        let sequence = try VectorRun.recorded(test, by: Doubling())
        try VectorWriter.write(TestVectors(cases: [single, sequence]), to: folder.path(name))
        let vectors = try read(name)
        #expect(vectors.cases.map(\.name) == ["first", "second"] && vectors.cases.map(\.steps.count) == [1, 2])
        #expect(vectors.cases[0].steps[0].outputs.count == 6)
        #expect(
            allPass(vectors, ToleranceTable(all: .exact, images: ImageTolerance(maximum: 0, mean: 0)))
        )
    }

    @Test func damagedVectorsEndInAnError() throws {
        let sound = try NumpyArchive.write([
            "x": Tensor([1, 2, 3, 4] as [Float], shape: [2, 2]), "label": Tensor(strings: ["even", "odd"], shape: [2]),
        ])
        var generator = SplitMix64(seed: 7)
        for _ in 0..<400 {
            var bytes = sound
            for _ in 0...(generator.next() % 3) {
                let location = Int(generator.next() % UInt64(bytes.count))
                if generator.next() % 2 == 0 {
                    bytes[location] = UInt8(truncatingIfNeeded: generator.next())
                } else {
                    bytes.removeSubrange(location..<min(location + 3, bytes.count))
                }
            }
            try folder.write(bytes, "cases.npz")
            // Reading either succeeds or names what is wrong; it never ends the process.
            if let vectors = try? read("cases.npz") { _ = results(vectors) }
        }
    }
}
