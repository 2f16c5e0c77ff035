import Foundation
import MLEngine
import MLFeatures
import MLFiles
import MLModels
import MLNumerics
import MLSpecification
import Testing

/// Batches answer what single predictions answer.
struct BatchTests {
    /// Programs that take "x", with the extents of x.
    struct Program: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let shape: [Int]
        var scalarType = ScalarType.float32
        let text: String
    }

    private static func weights(_ name: String, _ shape: [Int], _ seed: Int) -> String {
        let count = shape.reduce(1, *)
        let numbers = (0..<count).map { index -> String in
            let bits = (index &* 2_654_435_761 &+ seed &* 40_503) % 1999
            return "\(Double(bits) / 2000 - 0.5)"
        }
        func nested(_ numbers: ArraySlice<String>, _ shape: ArraySlice<Int>) -> String {
            guard let first = shape.first, shape.count > 1 else { return "[\(numbers.joined(separator: ", "))]" }
            let each = numbers.count / first
            let parts = (0..<first).map { part in
                let start = numbers.startIndex + part * each
                return nested(numbers[start..<start + each], shape.dropFirst())
            }
            return "[\(parts.joined(separator: ", "))]"
        }
        let type = "tensor<fp32, [\(shape.map(String.init).joined(separator: ", "))]>"
        return "\(type) \(name) = const()[val = \(type)(\(nested(numbers[...], shape[...])))];\n"
    }

    private static func integers(_ name: String, _ values: [Int]) -> String {
        let type = "tensor<int32, [\(values.count)]>"
        let list = values.map(String.init).joined(separator: ", ")
        return "\(type) \(name) = const()[val = \(type)([\(list)])];\n"
    }

    private static let convolutional = Program(
        testDescription: "convolutional",
        shape: [1, 3, 12, 12],
        text: weights("k", [8, 3, 3, 3], 1) + weights("w", [5, 32], 2) + integers("ones", [1, 1])
            + integers("twos", [2, 2]) + integers("none", [0, 0, 0, 0]) + integers("flat", [1, -1])
                + """
                string valid = const()[val = string("valid")];
                bool no = const()[val = bool(false)];
                int32 one = const()[val = int32(1)];
                int32 last = const()[val = int32(-1)];
                tensor<fp32, [1, 8, 5, 5]> c = conv(dilations = ones, groups = one, pad = none, pad_type = valid,
                    strides = twos, weight = k, x = x);
                tensor<fp32, [1, 8, 5, 5]> r = relu(x = c);
                tensor<fp32, [1, 8, 2, 2]> p = max_pool(ceil_mode = no, kernel_sizes = twos, pad = none, pad_type = valid,
                    strides = twos, x = r);
                tensor<fp32, [1, 32]> f = reshape(shape = flat, x = p);
                tensor<fp32, [1, 5]> l = linear(weight = w, x = f);
                tensor<fp32, [1, 5]> y = softmax(axis = last, x = l);
                """
    )

    private static let transformer = Program(
        testDescription: "transformer",
        shape: [1, 6],
        scalarType: .int32,
        text: weights("table", [11, 8], 3) + weights("wq", [8, 8], 4) + weights("wk", [8, 8], 5)
            + weights("wv", [8, 8], 6) + weights("wo", [8, 8], 7) + weights("up", [32, 8], 8)
            + weights("down", [8, 32], 9) + integers("split", [1, 6, 2, 4]) + integers("whole", [1, 6, 8])
            + integers("turn", [0, 2, 1, 3]) + integers("axes", [-1])
                + """
                int32 zero = const()[val = int32(0)];
                int32 last = const()[val = int32(-1)];
                bool no = const()[val = bool(false)];
                bool yes = const()[val = bool(true)];
                fp32 half = const()[val = fp32(0.5)];
                tensor<fp32, [1, 6, 8]> e = gather(axis = zero, indices = x, validate_indices = yes, x = table);
                tensor<fp32, [1, 6, 8]> q = linear(weight = wq, x = e);
                tensor<fp32, [1, 6, 8]> k = linear(weight = wk, x = e);
                tensor<fp32, [1, 6, 8]> v = linear(weight = wv, x = e);
                tensor<fp32, [1, 6, 2, 4]> q1 = reshape(shape = split, x = q);
                tensor<fp32, [1, 6, 2, 4]> k1 = reshape(shape = split, x = k);
                tensor<fp32, [1, 6, 2, 4]> v1 = reshape(shape = split, x = v);
                tensor<fp32, [1, 2, 6, 4]> q2 = transpose(perm = turn, x = q1);
                tensor<fp32, [1, 2, 6, 4]> k2 = transpose(perm = turn, x = k1);
                tensor<fp32, [1, 2, 6, 4]> v2 = transpose(perm = turn, x = v1);
                tensor<fp32, [1, 2, 6, 6]> s = matmul(transpose_x = no, transpose_y = yes, x = q2, y = k2);
                tensor<fp32, [1, 2, 6, 6]> s1 = mul(x = s, y = half);
                tensor<fp32, [1, 2, 6, 6]> a = softmax(axis = last, x = s1);
                tensor<fp32, [1, 2, 6, 4]> m = matmul(transpose_x = no, transpose_y = no, x = a, y = v2);
                tensor<fp32, [1, 6, 2, 4]> m1 = transpose(perm = turn, x = m);
                tensor<fp32, [1, 6, 8]> m2 = reshape(shape = whole, x = m1);
                tensor<fp32, [1, 6, 8]> o = linear(weight = wo, x = m2);
                tensor<fp32, [1, 6, 8]> r = add(x = o, y = e);
                tensor<fp32, [1, 6, 8]> n = layer_norm(axes = axes, x = r);
                tensor<fp32, [1, 6, 32]> u = linear(weight = up, x = n);
                tensor<fp32, [1, 6, 32]> g = relu(x = u);
                tensor<fp32, [1, 6, 8]> d = linear(weight = down, x = g);
                tensor<fp32, [1, 6, 8]> y = add(x = d, y = n);
                """
    )

    private static let recurrent = Program(
        testDescription: "recurrent",
        shape: [1, 5, 3],
        text: weights("wi", [16, 3], 10) + weights("wh", [16, 4], 11) + weights("h", [1, 4], 12)
            + weights("c", [1, 4], 13) + integers("turn", [1, 0, 2])
                + """
                string forward = const()[val = string("forward")];
                bool yes = const()[val = bool(true)];
                tensor<fp32, [5, 1, 3]> t = transpose(perm = turn, x = x);
                tensor<fp32, [5, 1, 4]> s, tensor<fp32, [1, 4]> h1, tensor<fp32, [1, 4]> c1 = lstm(direction = forward,
                    initial_c = c, initial_h = h, output_sequence = yes, weight_hh = wh, weight_ih = wi, x = t);
                tensor<fp32, [1, 5, 4]> y = transpose(perm = turn, x = s);
                """
    )

    /// The number of places differs from example to example.
    private static let dependent = Program(
        testDescription: "extents that depend on data",
        shape: [1, 6],
        text: """
            fp32 zero = const()[val = fp32(0)];
            tensor<bool, [1, 6]> p = greater(x = x, y = zero);
            tensor<int32, [?, 2]> y = non_zero(x = p);
            """
    )

    static let programs = [convolutional, transformer, recurrent, dependent]

    private static func file(_ program: Program, _ extents: [Int]? = nil) throws -> ModelFile {
        let type = program.scalarType == .int32 ? "int32" : "fp32"
        let shape = (extents ?? program.shape).map { $0 < 0 ? "?" : "\($0)" }.joined(separator: ", ")
        return try Samples.program(
            "func main<ios17>(tensor<\(type), [\(shape)]> x) { \(program.text) } -> (y);",
            [Samples.array("x", extents ?? program.shape)],
            [Samples.array("y", [])]
        ) {
            if program.scalarType == .int32 { $0.description_p.input[0].type.multiArrayType.dataType = .int32 }
        }
    }

    private static func examples(_ program: Program, _ count: Int, shape: [Int]? = nil) -> [[String: FeatureData]] {
        (0..<count).map { example in
            let shape = shape ?? program.shape
            let values = (0..<shape.reduce(1, *)).map { index -> Double in
                let bits = (index &* 2_654_435_761 &+ example &* 7919) % 1009
                return program.scalarType == .int32 ? Double(bits % 11) : Double(bits) / 504 - 1
            }
            return ["x": .tensor(Tensor(values: values, scalarType: program.scalarType, shape: shape))]
        }
    }

    private func expectSingleAnswers(_ engine: any ModelEngine, _ examples: [[String: FeatureData]]) throws {
        let results = engine.results(of: examples)
        #expect(results.count == examples.count)
        for (index, (result, example)) in zip(results, examples).enumerated() {
            let expected = try #require(try engine.answer(example))
            let found = try #require(numbers(try result.get()["y"]))
            #expect(found.count == expected.count, "example \(index)")
            #expect(zip(found, expected).allSatisfy { abs($0 - $1) < 1e-5 }, "example \(index)")
        }
    }

    @Test(arguments: programs, [1, 2, 9, 64])
    func answersAreThoseOfSinglePredictions(program: Program, count: Int) throws {
        try expectSingleAnswers(EngineLoader.load(Self.file(program)), Self.examples(program, count))
    }

    @Test func examplesOfSeveralShapesAreMixed() throws {
        let program = Program(
            testDescription: "any length",
            shape: [1, 3, 4],
            text: Self.weights("w", [6, 4], 14) + "tensor<fp32, [1, ?, 6]> y = linear(weight = w, x = x);"
        )
        let engine = try EngineLoader.load(Self.file(program, [1, -1, 4]))
        let lengths = [[1, 3, 4], [1, 5, 4]]
        let examples = (0..<24).map { Self.examples(program, $0 + 1, shape: lengths[$0 / 3 % 2])[$0] }
        try expectSingleAnswers(engine, examples)
    }

    @Test func anErrorBelongsToItsExample() throws {
        let engine = try EngineLoader.load(Self.file(Self.transformer))
        var examples = Self.examples(Self.transformer, 16)
        examples[5]["x"] = .tensor(Tensor([1, 2, 3, 99, 5, 6] as [Int32], shape: [1, 6]))
        examples[7] = [:]
        examples[9]["x"] = .tensor(Tensor([1, 2] as [Int32], shape: [1, 2]))
        for (index, result) in engine.results(of: examples).enumerated() {
            let single = Result { () throws(ModelError) in try engine.prediction(from: examples[index]) }
            switch (result, single) {
            case (.success(let found), .success(let expected)):
                #expect(![5, 7, 9].contains(index))
                #expect(numbers(found["y"])?.count == numbers(expected["y"])?.count)
            case (.failure(let found), .failure(let expected)):
                #expect([5, 7, 9].contains(index))
                #expect(found.description == expected.description)
            default: Issue.record("example \(index)")
            }
        }
        examples[7] = examples[0]
        examples[9] = examples[0]
        let batch = try #require(FeatureBatch(examples))
        let error = #expect(throws: ModelError.self) { try engine.predictions(from: batch) }
        #expect(error?.description.contains("example 5") == true, "\(error?.description ?? "")")
    }

    @Test func networksOfThePipelineAnswerToo() throws {
        let engine = try EngineLoader.load(ModelFile(specification: Samples.pipeline(names: ["a", "b"])))
        let examples = (0..<7).map { ["x": vector(Float($0), 1)] }
        try expectSingleAnswers(engine, examples)
    }

    @Test func cancelledBatchesStop() async throws {
        let engine = try EngineLoader.load(Self.file(Self.convolutional))
        let examples = Self.examples(Self.convolutional, 8)
        let (never, end) = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in never {}
            return engine.results(of: examples)
        }
        // The stream ends for a task that is cancelled.
        task.cancel()
        for result in await task.value {
            let error = #expect(throws: ModelError.self) { try result.get() }
            #expect(error?.code == .cancelled)
        }
        end.finish()
    }

    /// The pool of workers belongs to a client while its job runs: others go on without it.
    @Test func aSlowClientHoldsNobodyUp() async throws {
        let engine = try EngineLoader.load(Self.file(Self.convolutional))
        let (entries, entered) = AsyncStream<Void>.makeStream()
        let (ends, ended) = AsyncStream<Int>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        Thread {
            let results = ParallelExamples.results(of: 0..<8) { (index) throws(ModelError) in
                if index == 0 {
                    entered.yield()
                    gate.wait()
                }
            }
            ended.yield(results.count)
        }.start()
        for await _ in entries { break }
        try expectSingleAnswers(engine, Self.examples(Self.convolutional, 8))
        gate.signal()
        for await count in ends {
            #expect(count == 8)
            break
        }
    }
}
