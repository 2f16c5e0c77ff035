import ArgumentParser

/// The options for reading recordings and dividing them into windows, for models of sounds and activities.
struct WindowOptions: ParsableArguments {
    @Option(help: "Sounds: the fraction of a window that overlaps the next one, 0.5 by default.")
    var overlap: Double?
    @Option(help: "Activities: the column that identifies the recording of a sample.")
    var recording: String?
    @Option(
        parsing: .upToNextOption,
        help: "Activities: the sensors' columns in the model's order; by default those that the model names."
    )
    var features: [String] = []

    func validate() throws {
        if let overlap, !(0..<1).contains(overlap) {
            throw ValidationError("--overlap takes a number from 0 to below 1")
        }
    }

    /// The options, and whether each was given.
    var given: [(String, Bool)] {
        [("--overlap", overlap != nil), ("--recording", recording != nil), ("--features", !features.isEmpty)]
    }

    var overlapFactor: Double { overlap ?? 0.5 }
    var recordingColumn: String { recording ?? "recording" }
    /// `nil` for the columns that the model names.
    var featureColumns: [String]? { features.isEmpty ? nil : features }
}
