import CoreML
import MLSpecification
import Testing

/// Programs of several functions, and programs whose shapes and turns depend on their inputs.
struct FunctionTests {
    static func model(_ functionName: String?) throws -> MLModel {
        let configuration = MLModelConfiguration()
        configuration.functionName = functionName
        return try programModel(
            """
            func double<ios18>(tensor<fp32, [2]> x) {
                tensor<fp32, [2]> y = add(x = x, y = x);
            } -> (y);
            func label<ios18>(tensor<fp32, [3]> p) {
                tensor<string, [3]> names = const()[val = tensor<string, [3]>(["a", "b", "c"])];
                string best, dict<string, fp32> all = classify(probabilities = p, classes = names);
            } -> (best, all);
            """,
            configuration: configuration
        ) { specification in
            specification.description_p.defaultFunctionName = "double"
            var double = SpecFunctionDescription()
            double.name = "double"
            double.input = [feature(("x", .float32, [2]))]
            double.output = [feature(("y", .float32, [2]))]
            var label = SpecFunctionDescription()
            label.name = "label"
            label.input = [feature(("p", .float32, [3]))]
            var (best, all) = (SpecFeatureDescription(), SpecFeatureDescription())
            best.name = "best"
            best.type.stringType = SpecStringFeatureType()
            all.name = "all"
            all.type.dictionaryType.stringKeyType = SpecStringFeatureType()
            label.output = [best, all]
            label.predictedFeatureName = "best"
            label.predictedProbabilitiesName = "all"
            specification.description_p.functions = [label, double]
        }
    }

    @Test(arguments: [nil, "double"])
    func theDefaultFunction(name: String?) throws {
        let model = try Self.model(name)
        #expect(model.modelDescription.inputs.map { $0.name } == ["x"])
        #expect(model.modelDescription.predictedFeatureName == nil)
        #expect(try model.answer(["x": MLMultiArray([1.5, 2])]) == [3, 4])
    }

    @Test func anotherFunction() throws {
        let model = try Self.model("label")
        #expect(model.modelDescription.predictedFeatureName == "best")
        #expect(model.modelDescription.classLabels as? [String] == ["a", "b", "c"])
        let input = try MLDictionaryFeatureProvider(dictionary: ["p": MLMultiArray([0.25, 0.5, 0.25])])
        let output = try model.prediction(from: input)
        #expect(output.featureValue(for: "best")?.stringValue == "b")
        #expect(
            output.featureValue(for: "all")?.dictionaryValue as? [String: Double] == ["a": 0.25, "b": 0.5, "c": 0.25]
        )
    }

    @Test func unknownFunctionsAreErrors() {
        #expect(throws: MLModelError.self) { try Self.model("triple") }
    }

    /// i grows by `step` until it is 10 or more.
    @Test func loopsTakeAsManyTurnsAsTheirInputsAsk() throws {
        let model = try programModel(
            """
            func main<ios15>(tensor<int32, [1]> step) {
                int32 start = const()[val = int32(0)];
                int32 limit = const()[val = int32(10)];
                tensor<int32, []> by = squeeze(x = step);
                tensor<int32, []> y = while_loop(loop_vars = (start)) {
                    (tensor<int32, []> i) { tensor<bool, []> more = less(x = i, y = limit); } -> (more);
                    (tensor<int32, []> i) { tensor<int32, []> next = add(x = i, y = by); } -> (next);
                };
            } -> (y);
            """,
            inputs: [("step", .int32, [1])],
            outputs: [("y", .int32, [])]
        )
        #expect(try model.answer(["step": MLMultiArray([3])]) == [12])
        #expect(try model.answer(["step": MLMultiArray([10])]) == [10])
    }

    /// A tensor larger than any memory is an error, not a crash.
    @Test(arguments: [[1 << 30, 1 << 30], [1 << 20, 1 << 20], [-1, 4]])
    func hugeTensorsAreErrors(shape: [Int]) throws {
        let model = try programModel(
            """
            func main<ios15>(tensor<int32, [2]> shape) {
                fp32 one = const()[val = fp32(1)];
                tensor<fp32, [?, ?]> whole = fill(shape = shape, value = one);
                tensor<fp32, []> y = reduce_sum(x = whole);
            } -> (y);
            """,
            inputs: [("shape", .int32, [2])],
            outputs: [("y", .float32, [])]
        )
        #expect(try model.answer(["shape": MLMultiArray([3, 4])]) == [12])
        #expect(throws: MLModelError.self) { try model.answer(["shape": MLMultiArray(shape)]) }
    }

    /// The rank of a value follows from the length of an input: the program is read for each shape that comes.
    @Test func ranksFollowFromInputs() throws {
        let model = try programModel(
            """
            func main<ios15>(tensor<int32, [?]> shape) {
                fp32 one = const()[val = fp32(1)];
                tensor<fp32, [?, ...]> whole = fill(shape = shape, value = one);
                tensor<fp32, []> y = reduce_sum(x = whole);
            } -> (y);
            """,
            inputs: [("shape", .int32, [-1])],
            outputs: [("y", .float32, [])]
        )
        for shape in [[3], [2, 3], [2, 1, 4], [5, 2]] {
            #expect(try model.answer(["shape": MLMultiArray(shape)]) == [Double(shape.reduce(1, *))])
        }
    }

    /// An optional input of flexible shape that is left out: the default value in the default shape.
    @Test func optionalInputsHaveDefaults() throws {
        let model = try programModel(
            "func main<ios17>(tensor<fp32, [?]> x) { tensor<fp32, [?]> y = add(x = x, y = x); } -> (y);",
            outputs: [("y", .float32, [])]
        ) { specification in
            var x = feature(("x", .float32, [-1]))
            x.type.isOptional = true
            x.type.multiArrayType.shape = [3]
            x.type.multiArrayType.floatDefaultValue = 1.5
            specification.description_p.input = [x]
        }
        #expect(try model.answer([:]) == [3, 3, 3])
        #expect(try model.answer(["x": MLMultiArray([1.0, 2])]) == [2, 4])
    }
}
