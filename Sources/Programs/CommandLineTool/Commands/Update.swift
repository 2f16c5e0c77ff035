import ArgumentParser
import Foundation
import MLEngine
import MLFiles
import MLKernels
import MLNumerics
import MLSpecification
import MLUpdating
import Synchronization

struct Update: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Train an updatable model on examples.",
        discussion: """
            Examples:
              coreml update Stickers.mlmodel sketches/ -o Mine.mlmodel
              coreml update Prices.mlmodel sold.csv --epochs 20 --learning-rate 0.01
              coreml update Digits.mlmodelc mine.jsonl --checkpoint state --time-budget 600
              coreml update Digits.mlmodel mine.jsonl --seed 7 --json

            A CSV file names the model's training inputs in its header; a .jsonl file has a JSON object with them in each \
            line (for images the path, relative to the file). Without --output the updated model replaces MODEL \
            atomically when it is complete; until then, and after any failure, the old one is intact. The format follows \
            the name: .mlmodel, .mlpackage, anything else a compiled folder.

            With --checkpoint an update that ends early (time budget, SIGINT, SIGTERM) continues from there the next time, \
            with the same result as one that was never interrupted. Documentation/Updating.md shows a systemd timer.

            Exit status: 0 the model is updated, 1 failure, 64 wrong usage, 75 the time budget is used up (run it again), \
            130 interrupted (SIGINT), 143 terminated (SIGTERM).
            """
    )

    @Argument(help: "An updatable .mlmodel file, .mlpackage or compiled .mlmodelc folder.")
    var model: String
    @Argument(help: "Training data: .csv and .jsonl files, or folders with a folder of images for each label.")
    var data: [String]
    @Option(name: [.short, .long], help: "The file to write the updated model to; by default it replaces MODEL.")
    var output: String?
    @Option(help: "The number of passes over the examples.")
    var epochs: Int64?
    @Option(help: "The learning rate.")
    var learningRate: Double?
    @Option(help: "The mini-batch size.")
    var miniBatchSize: Int64?
    @Option(help: "The momentum of SGD.")
    var momentum: Double?
    @Flag(inversion: .prefixedNo, help: "Shuffle the examples in every epoch.")
    var shuffle: Bool?
    @Option(help: "The seed of the shuffling.")
    var seed: Int64?
    @Option(help: "A file for the checkpoint of an update that ends early.")
    var checkpoint: String?
    @Option(help: "Stop after this many seconds; with --checkpoint the next run continues.")
    var timeBudget: Double?
    @Option(help: "The number of worker threads; all cores by default.")
    var threads: Int?
    @Flag(help: "Print a JSON object for each epoch and for the end.")
    var json = false

    func validate() throws {
        guard !data.isEmpty else { throw ValidationError("give training data after the model") }
        guard timeBudget ?? 1 > 0 else { throw ValidationError("--time-budget takes seconds above 0") }
    }

    private var options: [UpdateOption] {
        var result: [UpdateOption] = []
        if let epochs { result.append(UpdateOption(.epochs, .integer(epochs))) }
        if let learningRate { result.append(UpdateOption(.learningRate, .number(learningRate))) }
        if let miniBatchSize { result.append(UpdateOption(.miniBatchSize, .integer(miniBatchSize))) }
        if let momentum { result.append(UpdateOption(.momentum, .number(momentum))) }
        if let shuffle { result.append(UpdateOption(.shuffle, .flag(shuffle))) }
        if let seed { result.append(UpdateOption(.seed, .integer(seed))) }
        return result
    }

    func run() throws {
        let start = ContinuousClock.now
        if let threads { Workers.limit(to: threads) }
        Interruption.watch()
        let file = try failing { () throws(ModelError) in
            let file = try ModelFile.open(path: model)
            try file.requireUnprotected("the updated model")
            return file
        }
        let session = try failing { () throws(ModelError) in
            try UpdateSession(file, options: options) { () throws(ModelError) in try EngineLoader.load(file) }
        }
        let reader = TrainingReader(file.specification.trainingFeatures)
        var examples: [[String: FeatureData]] = []
        for path in data { examples += try reader.examples(at: path) }
        let count = examples.count
        try failing { () throws(ModelError) in
            try session.begin(examples)
            if let checkpoint, FileAccess.kind(of: checkpoint) == .file {
                try session.restore(try UpdateCheckpoint(contentsOf: checkpoint))
            }
        }
        examples = []
        let display = UpdateProgress(json: json)
        display.resumed(session.position)
        let end = timeBudget.map { start + .seconds($0) }
        var saved = ContinuousClock.now
        while let event = try failing({ () throws(ModelError) in try session.step() }) {
            display.show(event, session)
            let isOver = end.map { ContinuousClock.now >= $0 } ?? false
            if isOver || Interruption.signal != 0 {
                display.close()
                try stop(session, signal: Interruption.signal)
            }
            if let checkpoint, ContinuousClock.now - saved > .seconds(10) {
                try failing { () throws(ModelError) in try session.checkpoint().write(to: checkpoint) }
                saved = ContinuousClock.now
            }
        }
        display.close()
        if Interruption.signal != 0 { try stop(session, signal: Interruption.signal) }
        let target = output ?? model
        try failing { () throws(ModelError) in
            try ModelCompiler.save(try session.updated(), to: target)
            if let checkpoint { try FileAccess.remove(checkpoint) }
        }
        display.finished(target, examples: count, seconds: (ContinuousClock.now - start) / .seconds(1))
    }

    /// Ends the run early; the model is not changed.
    private func stop(_ session: UpdateSession, signal: Int32) throws -> Never {
        let cause = signal == 0 ? "the time budget is used up" : "interrupted"
        var text = "\(cause); the model is unchanged"
        if let checkpoint {
            try failing { () throws(ModelError) in try session.checkpoint().write(to: checkpoint) }
            text = "\(cause); run the same command again to continue from '\(checkpoint)'"
        }
        FileHandle.standardError.write(Data("\(text)\n".utf8))
        throw ExitCode(signal == 0 ? 75 : 128 + signal)
    }
}

/// Whether the user or the system asked the command to stop.
enum Interruption {
    private static let received = Atomic<Int32>(0)

    /// The number of the signal; 0 when there was none.
    static var signal: Int32 { received.load(ordering: .relaxed) }

    /// From now on SIGINT and SIGTERM are recorded instead of ending the process; a second one ends it.
    static func watch() {
        _ = signal
        // Exceeding the file size limit is a write error, rather than the end of the process.
        _ = Foundation.signal(SIGXFSZ, SIG_IGN)
        // The parent process may have blocked them.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] {
            sigaddset(&signals, number)
            _ = Foundation.signal(number) { number in
                Interruption.received.store(number, ordering: .relaxed)
                _ = Foundation.signal(number, SIG_DFL)
            }
        }
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
