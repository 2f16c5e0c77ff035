import MLEngine
import MLFeatures
import MLFiles
import MLNumerics
import MLRuntime
import MLSpecification
import Testing

/// Models of one shape and of many: when they are planned, how many plans are kept, and what threads share.
struct ShapeTests {
    private func ramp(_ count: Int) -> Tensor { Tensor((0..<count).map { Float($0) }, shape: [count]) }
    private func doubled(_ count: Int) -> [Double] { (0..<count).map { Double(2 * $0) } }

    private func graphEngine(_ length: Int) throws -> GraphEngine {
        try #require(try EngineLoader.load(Samples.doubling(length)) as? GraphEngine)
    }

    @Test func aModelOfOneShapeIsPlannedWhenItIsLoaded() throws {
        let engine = try graphEngine(4)
        #expect(engine.executable.isOnePlan)
        #expect(try engine.executable.program(for: [ramp(4)]) === engine.executable.program(for: [ramp(4)]))
        #expect(throws: ModelError.self) { try engine.executable.program(for: [ramp(5)]) }
        #expect(throws: ModelError.self) { try engine.executable.program(for: []) }
    }

    @Test func aFlexibleModelIsPlannedOnceForEachShape() throws {
        let engine = try graphEngine(-1)
        #expect(!engine.executable.isOnePlan)
        for length in [3, 1, 7, 3, 1] {
            #expect(try engine.answer(["x": .tensor(ramp(length))]) == doubled(length))
        }
        let three = try engine.executable.program(for: [ramp(3)])
        #expect(try engine.executable.program(for: [ramp(3)]) === three)
        #expect(try engine.executable.program(for: [ramp(7)]) !== three)
        #expect(throws: ModelError.self) { try engine.executable.program(for: []) }
    }

    @Test("sixteen plans are kept, and those used last")
    func plansAreBounded() throws {
        let engine = try graphEngine(-1)
        let first = try (1...16).map { try engine.executable.program(for: [ramp($0)]) }
        // Using the first again makes the second the one that goes.
        #expect(try engine.executable.program(for: [ramp(1)]) === first[0])
        _ = try engine.executable.program(for: [ramp(17)])
        #expect(try engine.executable.program(for: [ramp(1)]) === first[0])
        #expect(try engine.executable.program(for: [ramp(3)]) === first[2])
        #expect(try engine.executable.program(for: [ramp(2)]) !== first[1])
    }

    @Test("more shapes than readings are kept, there and back")
    func readingsAreBounded() throws {
        let engine = try EngineLoader.load(Samples.filling())
        let shapes = (1...12).map { [$0] } + (1...12).map { [2, $0] }
        for shape in shapes + shapes.reversed() {
            let tensor = Tensor(shape.map { Int32($0) }, shape: [shape.count])
            #expect(try engine.answer(["shape": .tensor(tensor)]) == [Double(shape.reduce(1, *))])
        }
    }

    @Test("batches in arrays of five axes, more than readings are kept")
    func batchesHaveReadingsOfTheirOwn() throws {
        let model = Samples.network([3], mapping: .rank5ArrayMapping)
        let engine = try EngineLoader.load(ModelFile(specification: model))
        for batch in Array(1...12) + Array((1...12).reversed()) {
            let x = Tensor((0..<batch * 3).map { Float($0) }, shape: [1, batch, 3])
            #expect(try engine.answer(["x": .tensor(x)]) == doubled(batch * 3), "batch \(batch)")
        }
    }

    @Test func aShapeThatFailsDoesNotSpoilOthers() throws {
        let engine = try EngineLoader.load(Samples.filling())
        let huge = Tensor([1 << 20, 1 << 20] as [Int32], shape: [2])
        for _ in 0..<2 {
            #expect(throws: ModelError.self) { try engine.prediction(from: ["shape": .tensor(huge)]) }
            #expect(try engine.answer(["shape": vector(2, 2)]) == [4])
        }
    }

    @Test func threadsThatPredictFirstShareOneProgram() async throws {
        let engine = try graphEngine(-1)
        let programs = try await withThrowingTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<16 {
                group.addTask { ObjectIdentifier(try engine.executable.program(for: [ramp(100)])) }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(programs.count == 1)
    }

    @Test(arguments: [true, false])
    func firstPredictionsAtOnceAgree(isProgram: Bool) async throws {
        let file =
            isProgram
            ? try Samples.filling() : ModelFile(specification: Samples.network([3], mapping: .rank5ArrayMapping))
        let engine = try EngineLoader.load(file)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<24 {
                let size = 1 + task % 6
                group.addTask {
                    if isProgram {
                        let shape = Tensor([Int32](repeating: 2, count: size), shape: [size])
                        return try engine.answer(["shape": .tensor(shape)]) == [Double(1 << size)]
                    }
                    let x = Tensor((0..<size * 3).map { Float($0) }, shape: [1, size, 3])
                    return try engine.answer(["x": .tensor(x)]) == doubled(size * 3)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
