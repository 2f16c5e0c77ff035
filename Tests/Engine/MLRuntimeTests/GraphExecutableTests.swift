import MLGraph
import MLNumerics
import MLRuntime
import Testing

private func vector(_ values: [Float]) -> Tensor { Tensor(values, shape: [values.count]) }

@Suite struct GraphExecutableTests {
    @Test func chainRunsInPlaceInOneBuffer() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [4]))
        var y = x
        for _ in 0..<5 { y = try builder.add(ToyAdd(), y, x) }
        let z = try builder.add(ToyFlatten(), y)
        let executable = try GraphExecutable(builder.finished(outputs: [("y", y), ("z", z)]), pipeline: .none)
        let input = vector([1, 2, 3, 4])
        let results = try executable.run([input])
        #expect(results.map(\.values) == [[6, 12, 18, 24], [6, 12, 18, 24]])
        let plan = try executable.program(for: [input]).plan
        #expect(plan.steps.count == 5)
        #expect(plan.arenaByteCount == 0, "the whole chain lives in the output's buffer")
    }

    @Test func flexibleShapesBindOncePerShape() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [.unknown]))
        let y = try builder.add(ToyAdd(), x, x)
        let executable = try GraphExecutable(builder.finished(outputs: [("y", y)]), pipeline: .none)
        for length in [3, 5, 3] {
            let input = vector((0..<length).map(Float.init))
            #expect(try executable.run([input])[0].values == input.values.map { $0 * 2 })
        }
        #expect(try executable.program(for: [vector([1, 2, 3])]) === executable.program(for: [vector([7, 8, 9])]))
    }

    @Test func extentsThatDependOnDataAreBoundLate() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [4]))
        let doubled = try builder.add(ToyAdd(), x, x)
        let positives = try builder.add(ToyPositives(), doubled)
        let sum = try builder.add(ToyAdd(), positives, positives)
        let executable = try GraphExecutable(
            builder.finished(outputs: [("sum", sum), ("doubled", doubled)]),
            pipeline: .none
        )
        #expect(try executable.run([vector([1, -1, 2, 3])]).map(\.values) == [[4, 8, 12], [2, -2, 4, 6]])
        #expect(try executable.run([vector([-1, -1, -2, 3])]).map(\.values) == [[12], [-2, -2, -4, 6]])
    }

    @Test func shapesGivenAsDataBindByContents() throws {
        var builder = GraphBuilder()
        let shape = builder.input("shape", ValueType(.int32, [2]))
        let zeros = try builder.add(ToyZeros(), shape)
        let one = builder.constant(Tensor([1] as [Float], shape: [1]))
        let ones = try builder.add(ToyAdd(), zeros, one)
        let executable = try GraphExecutable(builder.finished(outputs: [("ones", ones)]), pipeline: .none)
        for counts in [[2, 3], [1, 4]] as [[Int32]] {
            let result = try executable.run([Tensor(counts, shape: [2])])[0]
            #expect(result.shape == counts.map(Int.init))
            #expect(result.values.allSatisfy { $0 == 1 })
        }
    }

    @Test func bodiesSeeOuterValues() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [2]))
        let step = try builder.add(ToyAdd(), x, x)
        builder.beginBlock()
        let carried = builder.input("carried", ValueType(.float32, [2]))
        let next = try builder.add(ToyAdd(), carried, step)
        let body = builder.endBlock(outputs: [next])
        let result = try builder.append(ToyRepeat(times: 3), [x], blocks: [body])[0]
        let executable = try GraphExecutable(builder.finished(outputs: [("y", result)]), pipeline: .none)
        #expect(try executable.run([vector([1, 10])])[0].values == [7, 70])
    }

    @Test func wrongInputsAreNamed() throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [4]))
        let executable = try GraphExecutable(builder.finished(outputs: [("y", x)]), pipeline: .none)
        #expect(throws: ModelError.self) { try executable.run([vector([1])]) }
        #expect(throws: ModelError.self) { try executable.run([]) }
    }

    @Test func threadsShareOneExecutable() async throws {
        var builder = GraphBuilder()
        let x = builder.input("x", ValueType(.float32, [64]))
        var y = x
        for _ in 0..<20 { y = try builder.add(ToyAdd(), y, x) }
        let executable = try GraphExecutable(builder.finished(outputs: [("y", y)]), pipeline: .none)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for seed in 0..<16 {
                group.addTask {
                    let input = vector((0..<64).map { Float($0 + seed) })
                    return try (0..<50).allSatisfy { _ in
                        try executable.run([input])[0].values == input.values.map { $0 * 21 }
                    }
                }
            }
            for try await correct in group { #expect(correct) }
        }
    }
}

@Suite struct MemoryPlanTests {
    @Test(arguments: 0..<50)
    func buffersThatLiveTogetherNeverOverlap(seed: Int) {
        var generator = SystemGenerator(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1)
        let lifetimes = (0..<40).map { _ -> MemoryPlan.Lifetime in
            let first = Int.random(in: 0..<30, using: &generator)
            return MemoryPlan.Lifetime(
                byteCount: Int.random(in: 0..<5000, using: &generator),
                first: first,
                last: first + Int.random(in: 0..<8, using: &generator)
            )
        }
        let plan = MemoryPlan(lifetimes)
        for (a, x) in lifetimes.enumerated() {
            #expect(plan.offsets[a] % MemoryPlan.alignment == 0)
            #expect(plan.offsets[a] + x.byteCount <= plan.byteCount)
            for (b, y) in lifetimes.enumerated() where b > a && x.first <= y.last && y.first <= x.last {
                let apart =
                    plan.offsets[a] + x.byteCount <= plan.offsets[b] || plan.offsets[b] + y.byteCount <= plan.offsets[a]
                #expect(apart || x.byteCount == 0 || y.byteCount == 0, "\(x) and \(y)")
            }
        }
    }
}

private struct SystemGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
