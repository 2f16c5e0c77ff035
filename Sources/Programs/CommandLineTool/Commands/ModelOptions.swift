import ArgumentParser
import MLEngine
import MLFiles
import MLKernels
import MLNumerics

/// The model that a command works on.
struct ModelOptions: ParsableArguments {
    @Argument(help: "A .mlmodel file, a .mlpackage or a compiled .mlmodelc folder.")
    var model: String

    @Option(help: "The function of an ML program, when it has several.")
    var function: String?

    func open(for purpose: ModelFile.Purpose = .inspection) throws -> ModelFile {
        try failing { () throws(ModelError) in try ModelFile.open(path: model, for: purpose) }
    }

    func engine() throws -> any ModelEngine { try engine(of: open(for: .prediction)) }

    func engine(of file: ModelFile) throws -> any ModelEngine {
        try failing { () throws(ModelError) in try EngineLoader.load(file, functionName: function) }
    }
}

/// The inputs given on the command line.
struct InputOptions: ParsableArguments {
    @Option(
        name: [.short, .long],
        help: ArgumentHelp(
            """
            An input: name=image.jpg, name=array.npy, name=JSON; or a .npz or .json file with several. Strings need no \
            quotes. In JSON null is a missing number, NaN; NaN and infinities are "nan", "inf" and "-inf", also in outputs.
            """,
            valueName: "name=value"
        )
    )
    var input: [String] = []

    @Option(help: "The number of worker threads; all cores by default.")
    var threads: Int?

    func apply() {
        if let threads { Self.limitWorkers(to: threads) }
    }

    static func limitWorkers(to threads: Int) { Workers.limit(to: threads) }
}

/// Runs `body`; prints its error unchanged.
func failing<R>(_ body: () throws(ModelError) -> R) throws -> R {
    do { return try body() } catch { throw Failure("\(error)") }
}
