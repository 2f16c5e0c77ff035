import ArgumentParser
import Foundation
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
}

/// The model that a command runs.
struct RunOptions: ParsableArguments {
    @OptionGroup var file: ModelOptions

    @Option(
        help: ArgumentHelp(
            """
            "low" rounds the factors of products with half-precision weights to bfloat16, where the processor has matrix tiles \
            for that (AMX), which is several times as fast; "full" multiplies exactly.
            """
        )
    )
    var precision: Precision = .full

    /// The exactness of products with half-precision weights.
    enum Precision: String, CaseIterable, ExpressibleByArgument {
        case full
        case low
    }

    var model: String { file.model }
    var function: String? { file.function }

    func open(for purpose: ModelFile.Purpose = .inspection) throws -> ModelFile { try file.open(for: purpose) }

    func engine() throws -> any ModelEngine { try engine(of: open(for: .prediction)) }

    func engine(of file: ModelFile) throws -> any ModelEngine {
        let kernels = precision == .low ? KernelTable.current.lowPrecision : nil
        if precision == .low, kernels == nil {
            let note = "--precision low: this processor has no matrix tiles (AMX); products are exact\n"
            FileHandle.standardError.write(Data(note.utf8))
        }
        return try failing { () throws(ModelError) in
            try EngineLoader.load(
                file,
                functionName: function,
                loadingOptions: LoadingOptions(kernels: kernels ?? .current)
            )
        }
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
