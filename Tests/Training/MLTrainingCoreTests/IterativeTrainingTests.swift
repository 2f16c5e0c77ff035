import MLNumerics
import MLTrainingCore
import Testing

@Suite struct IterativeTrainingTests {
    /// Adds up numbers, one a step.
    private struct Adding: IterativeTraining {
        var iteration = 0
        var sum: UInt64 = 0
        var isFinished: Bool { iteration >= 5 }

        mutating func step() throws(ModelError) -> UInt64 {
            guard sum != 13 else { throw ModelError(.update, "thirteen") }
            iteration += 1
            sum += UInt64(iteration)
            return sum
        }

        var state: [UInt8] {
            var writer = CheckpointWriter(magic: "ADDING01", fingerprint: 0, iteration: iteration)
            writer.write(sum)
            return writer.bytes
        }

        mutating func restore(_ state: [UInt8]) throws(ModelError) {
            var reader = CheckpointReader(state, "the state")
            iteration = try reader.readHeader(magic: "ADDING01", fingerprint: 0)
            sum = try reader.readInteger()
            try reader.finish()
        }
    }

    /// The same by reference.
    private final class Shared: IterativeTraining {
        private var adding = Adding()
        var iteration: Int { adding.iteration }
        var isFinished: Bool { adding.isFinished }
        func step() throws(ModelError) -> UInt64 { try adding.step() }
        var state: [UInt8] { adding.state }
        func restore(_ state: [UInt8]) throws(ModelError) { try adding.restore(state) }
    }

    @Test func trainingGoesToTheEnd() throws {
        var training = Adding()
        try training.train { false }
        #expect(training.iteration == 5 && training.sum == 15)
        // Nothing is left to do.
        try training.train { true }
        let shared = Shared()
        try shared.train { false }
        #expect(shared.state == training.state)
    }

    @Test func cancelledTrainingKeepsItsProgressAndGoesOn() throws {
        var training = Adding()
        var asked = 0
        do {
            try training.train {
                asked += 1
                return asked > 2
            }
            Issue.record("the training was cancelled")
        } catch {
            #expect(error.code == .cancelled && error.message.contains("2 iterations"))
        }
        #expect(training.iteration == 2 && training.sum == 3)
        let other = Shared()
        try other.restore(training.state)
        try other.train { false }
        try training.train { false }
        #expect(other.state == training.state && training.sum == 15)
    }

    @Test func errorsOfStepsComeThrough() throws {
        var training = Adding(iteration: 3, sum: 13)
        #expect { try training.train { false } } throws: { ($0 as? ModelError)?.code == .update }
        #expect(training.iteration == 3)
    }
}
