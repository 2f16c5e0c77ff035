import CoreML
import Foundation
import MLSpecification
import Testing

/// Buffers that live from one prediction to the next.
struct StateTests {
    /// sum := sum + x; y = sum.
    static func counter() throws -> MLModel {
        try programModel(
            """
            func main<ios18>(tensor<fp16, [2]> x, state<tensor<fp16, [2]>> sum) {
                tensor<fp16, [2]> old = read_state(input = sum);
                tensor<fp16, [2]> new = add(x = old, y = x);
                write_state(data = new, input = sum);
                tensor<fp16, [2]> y = read_state(input = sum);
            } -> (y);
            """,
            inputs: [("x", .float16, [2])],
            outputs: [("y", .float16, [2])],
            states: [("sum", .float16, [2])]
        )
    }

    @Test func statesAreKeptApart() async throws {
        let model = try Self.counter()
        let (a, b) = (model.makeState(), model.makeState())
        #expect(try model.answer(["x": MLMultiArray([1.0, 2])], using: a) == [1, 2])
        #expect(try model.answer(["x": MLMultiArray([1.0, 2])], using: a) == [2, 4])
        #expect(try model.answer(["x": MLMultiArray([5.0, 6])], using: b) == [5, 6])
        let input = try MLDictionaryFeatureProvider(dictionary: ["x": MLMultiArray([1.0, 1])])
        let output = try await model.prediction(from: input, using: a)
        #expect(output.array("y") == [3, 5])
    }

    @Test func callersReadAndWriteThem() throws {
        let model = try Self.counter()
        let description = try #require(model.modelDescription.stateDescriptionsByName["sum"])
        #expect(description.type == .state)
        #expect(description.stateConstraint?.bufferShape == [2])
        #expect(description.stateConstraint?.dataType == .float16)
        let state = model.makeState()
        state.withMultiArray(for: "sum") { array in
            #expect(array.dataType == .float16)
            array[1] = 40
        }
        #expect(try model.answer(["x": MLMultiArray([1.0, 2])], using: state) == [1, 42])
        let sum = try state.withMultiArray { array in [array[0].doubleValue, array[1].doubleValue] }
        #expect(sum == [1, 42])
    }

    @Test func statesOfOtherModelsAreErrors() throws {
        let model = try Self.counter()
        let other = try Self.cache().makeState()
        #expect(throws: MLModelError.self) { try model.answer(["x": MLMultiArray([1.0, 2])], using: other) }
        #expect(throws: MLModelError.self) { try model.answer(["x": MLMultiArray([1.0, 2])]) }
    }

    /// Many tasks with one state: nothing is lost, because they run one after another.
    @Test func useOfOneStateIsSerial() async throws {
        let model = try Self.counter()
        let state = model.makeState()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    let input = try MLDictionaryFeatureProvider(dictionary: ["x": MLMultiArray([1.0, 2])])
                    _ = try await model.prediction(from: input, using: state)
                }
            }
            try await group.waitForAll()
        }
        #expect(try model.answer(["x": MLMultiArray([0.0, 0])], using: state) == [16, 32])
    }

    /// Row `at` of a table of 4 rows is replaced; y is the table.
    static func cache() throws -> MLModel {
        try programModel(
            """
            func main<ios18>(tensor<fp16, [1, 3]> row, tensor<int32, [2]> at, tensor<int32, [2]> to,
                             state<tensor<fp16, [4, 3]>> table) {
                tensor<fp16, [4, 3]> old = read_state(input = table);
                tensor<fp16, [4, 3]> new = slice_update(x = old, update = row, begin = at, end = to);
                write_state(data = new, input = table);
                fp16 two = const()[val = fp16(2)];
                tensor<fp16, [4, 3]> y = mul(x = new, y = two);
            } -> (y);
            """,
            inputs: [("row", .float16, [1, 3]), ("at", .int32, [2]), ("to", .int32, [2])],
            outputs: [("y", .float16, [4, 3])],
            states: [("table", .float16, [4, 3])]
        )
    }

    @Test func cachesAreWrittenInPlace() throws {
        let model = try Self.cache()
        let state = model.makeState()
        var expected = [Double](repeating: 0, count: 12)
        let before = state.withMultiArray(for: "table") { UInt(bitPattern: $0.dataPointer) }
        for row in [2, 0, 3] {
            let values = (0..<3).map { Double(row * 10 + $0) + 0.5 }
            let answer = try model.answer(
                [
                    "row": MLMultiArray(MLShapedArray<Float>(scalars: values.map { Float($0) }, shape: [1, 3])),
                    "at": MLMultiArray([row, 0]), "to": MLMultiArray([row + 1, 3]),
                ],
                using: state
            )
            expected.replaceSubrange(row * 3..<row * 3 + 3, with: values)
            #expect(answer == expected.map { $0 * 2 })
            let table = state.withMultiArray(for: "table") { array in (0..<12).map { array[$0].doubleValue } }
            #expect(table == expected)
        }
        #expect(state.withMultiArray(for: "table") { UInt(bitPattern: $0.dataPointer) } == before)
        #expect(throws: MLModelError.self) {
            try model.answer(
                [
                    "row": MLMultiArray(MLShapedArray<Float>(scalars: [1, 2, 3], shape: [1, 3])),
                    "at": MLMultiArray([3, 0]), "to": MLMultiArray([5, 2]),
                ],
                using: state
            )
        }
    }

    /// Two states that take each other's contents, and a value that only passes through.
    @Test func statesSwap() throws {
        let model = try programModel(
            """
            func main<ios18>(tensor<fp32, [1]> x, state<tensor<fp32, [1]>> a, state<tensor<fp32, [1]>> b) {
                tensor<fp32, [1]> first = read_state(input = a);
                tensor<fp32, [1]> second = read_state(input = b);
                tensor<fp32, [1]> sum = add(x = second, y = x);
                write_state(data = sum, input = a);
                write_state(data = first, input = b);
            } -> (first);
            """,
            inputs: [("x", .float32, [1])],
            outputs: [("first", .float32, [1])],
            states: [("a", .float32, [1]), ("b", .float32, [1])]
        )
        let state = model.makeState()
        var (a, b) = (0.0, 0.0)
        for x in [1.0, 2, 4, 8, 16] {
            #expect(try model.answer(["x": MLMultiArray([x])], using: state) == [a])
            (a, b) = (b + x, a)
            #expect(state.withMultiArray(for: "b") { $0[0].doubleValue } == b)
        }
    }

    /// Blocks that store: the state is doubled when `flag` is set, and then grows by one as often as `turns` says.
    @Test(arguments: [(flag: 1, turns: 3), (flag: 0, turns: 2), (flag: 1, turns: 0)])
    func blocksStore(flag: Int, turns: Int) throws {
        let model = try programModel(
            """
            func main<ios18>(tensor<int32, [1]> flag, tensor<int32, [1]> turns, state<tensor<fp32, [2]>> s) {
                tensor<fp32, [2]> start = read_state(input = s);
                fp32 one = const()[val = fp32(1)];
                int32 none = const()[val = int32(0)];
                int32 step = const()[val = int32(1)];
                tensor<fp32, [2]> first = add(x = start, y = one);
                write_state(data = first, input = s);
                tensor<int32, []> f = squeeze(x = flag);
                tensor<int32, []> n = squeeze(x = turns);
                tensor<bool, []> isSet = not_equal(x = f, y = none);
                tensor<fp32, [2]> chosen = cond(pred = isSet) {
                    () {
                        tensor<fp32, [2]> now = read_state(input = s);
                        tensor<fp32, [2]> twice = add(x = now, y = now);
                        write_state(data = twice, input = s);
                    } -> (twice);
                    () { tensor<fp32, [2]> same = identity(x = start); } -> (same);
                };
                tensor<int32, []> last = while_loop(loop_vars = (none)) {
                    (tensor<int32, []> i) { tensor<bool, []> more = less(x = i, y = n); } -> (more);
                    (tensor<int32, []> i) {
                        tensor<fp32, [2]> now = read_state(input = s);
                        tensor<fp32, [2]> grown = add(x = now, y = one);
                        write_state(data = grown, input = s);
                        tensor<int32, []> next = add(x = i, y = step);
                    } -> (next);
                };
                tensor<fp32, [2]> y = read_state(input = s);
            } -> (y, last);
            """,
            inputs: [("flag", .int32, [1]), ("turns", .int32, [1])],
            outputs: [("y", .float32, [2]), ("last", .int32, [])],
            states: [("s", .float32, [2])]
        )
        let state = model.makeState()
        var value = 0.0
        for _ in 0..<2 {
            value = (value + 1) * Double(flag + 1) + Double(turns)
            let inputs = ["flag": try MLMultiArray([flag]), "turns": try MLMultiArray([turns])]
            #expect(try model.answer(inputs, using: state) == [value, value])
            #expect(state.withMultiArray(for: "s") { $0[1].doubleValue } == value)
        }
    }
}
