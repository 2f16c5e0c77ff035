import MLKernels
import Testing

/// Requires that a suite's tests call every kernel of every instruction set of this processor.
///
/// `forEachInstructionSet` counts the calls, in tables that nobody else uses: other tests of the process do not count.
/// A run that is limited to some of the suite's tests says nothing about the others' kernels, and requires nothing.
struct KernelCensus: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try await function()
        guard try Self.runsAll(of: "MLKernelsTests.KernelTests/", CommandLine.arguments) else { return }
        for set in KernelTable.counting.map(\.instructionSet) {
            let uncalled = zip(InstructionSet.kernelNames, set.kernelCalls).filter { $0.1 == 0 }.map(\.0)
            #expect(uncalled == [], "kernels of \(set) that no test calls")
        }
    }

    /// Whether a test process with these arguments runs all tests of the suite `name`, a prefix of their names.
    static func runsAll(of name: String, _ arguments: [String]) throws -> Bool {
        var filters: [String] = []
        for (index, argument) in arguments.enumerated() {
            if argument == "--skip" || argument.hasPrefix("--skip=") { return false }
            if argument.hasPrefix("--filter=") { filters.append(String(argument.dropFirst("--filter=".count))) }
            if argument == "--filter", index + 1 < arguments.count { filters.append(arguments[index + 1]) }
        }
        return try filters.isEmpty || filters.contains { name.contains(try Regex($0)) }
    }
}

extension Trait where Self == KernelCensus {
    static var kernelCensus: KernelCensus { KernelCensus() }
}

extension KernelTests {
    @Suite struct KernelCensusTests {
        @Test func callsAreCounted() throws {
            let peak = try #require(InstructionSet.kernelNames.firstIndex(of: "peak"))
            forEachInstructionSet { set in
                let calls = set.kernelCalls[peak]
                #expect(InstructionSet.measuredPeak(threads: 1) > 0, "\(set)")
                #expect(set.kernelCalls[peak] > calls, "\(set)")
            }
        }

        @Test func namesAreThoseOfTheRows() {
            let names = InstructionSet.kernelNames
            #expect(names.count > 50 && Set(names).count == names.count)
            #expect(names.contains("scan_columns") && names.contains("tile_wide"))
        }

        @Test func onlyCompleteRunsAreJudged() throws {
            let name = "MLKernelsTests.KernelTests/"
            #expect(try KernelCensus.runsAll(of: name, ["tests"]))
            #expect(try KernelCensus.runsAll(of: name, ["tests", "--filter", "MLKernelsTests"]))
            #expect(try KernelCensus.runsAll(of: name, ["tests", "--filter=Other", "--filter=KernelTests"]))
            #expect(try !KernelCensus.runsAll(of: name, ["tests", "--filter", "ScanKernelTests"]))
            #expect(try !KernelCensus.runsAll(of: name, ["tests", "--skip", "ScanKernelTests"]))
        }
    }
}
