import MLEngine
import MLFeatures
import MLFiles
import MLKernels
import MLNumerics
import MLRuntime
import Testing

/// The kernels that a model is loaded with are those of all its plans, whatever the thread that predicts uses.
struct KernelTableTests {
    private func load(_ file: ModelFile, _ table: KernelTable) throws -> GraphEngine {
        let engine = try EngineLoader.load(file, loadingOptions: LoadingOptions(kernels: table))
        #expect(KernelTable.current == .standard)
        return try #require(engine as? GraphEngine)
    }

    private func numbers(_ count: Int) -> Tensor { Tensor((0..<count).map(Float.init), shape: [count]) }

    @Test(arguments: KernelTable.available)
    func plansKeepTheKernelsOfTheirModel(_ table: KernelTable) throws {
        let fixed = try load(Samples.doubling(3), table)
        let flexible = try load(Samples.doubling(-1), table)
        for other in KernelTable.available {
            let previous = other.enter()
            defer { KernelTable.leave(to: previous) }
            #expect(try fixed.executable.program(for: [numbers(3)]).plan.kernels == table)
            // Planned only now.
            let long = numbers(4 + other.instructionSet.rawValue)
            #expect(try flexible.executable.program(for: [long]).plan.kernels == table)
            #expect(try flexible.answer(["x": .tensor(long)]) == long.values.map { 2 * $0 })
            #expect(KernelTable.current == other)
        }
    }

    @Test func modelsOfDifferentKernelsPredictAtOnce() async throws {
        let file = try Samples.doubling(3)
        let engines = try KernelTable.available.map { try load(file, $0) }
        let x = numbers(3)
        try await withThrowingTaskGroup(of: [Double]?.self) { group in
            for number in 0..<30 {
                let engine = engines[number % engines.count]
                group.addTask { try engine.answer(["x": .tensor(x)]) }
            }
            for try await answer in group { #expect(answer == [0, 2, 4]) }
        }
    }
}
