import MLKernels
import Testing

@Suite struct KernelTableTests {
    @Test func theMachinesTableIsOneOfItsTables() {
        #expect(KernelTable.available.contains(.standard))
        #expect(Set(KernelTable.available).count == KernelTable.available.count)
        for table in KernelTable.available { #expect(KernelTable(table.instructionSet) == table) }
        #expect(KernelTable.available.count < InstructionSet.allCases.count, "no processor has Intel's and ARM's")
    }

    @Test func theTableBeforeComesBack() {
        struct Failure: Error {}
        #expect(KernelTable.current == .standard)
        for outer in KernelTable.available {
            outer.perform {
                for inner in KernelTable.available {
                    inner.perform { #expect(KernelTable.current == inner) }
                    #expect(throws: Failure.self) { try inner.perform { throw Failure() } }
                    #expect(KernelTable.current == outer)
                }
            }
        }
        #expect(KernelTable.current == .standard)
    }

    /// Each thread, and the workers that it gives jobs to, use its own table.
    @Test func threadsUseTheirOwnTables() async {
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let table = KernelTable.available[number % KernelTable.available.count]
                    return table.perform {
                        var strange = 0
                        for _ in 0..<200 {
                            let found = (0..<16).map { _ in Place() }
                            Workers.parallelFor(found.count) { index, _ in found[index].table = .current }
                            strange += found.count { $0.table != table }
                        }
                        return strange
                    }
                }
            }
            for await strange in group { #expect(strange == 0) }
        }
    }

    /// `@unchecked Sendable`: one item of a job writes it, and nobody reads it before the job is done.
    private final class Place: @unchecked Sendable {
        var table: KernelTable?
    }
}
