import ArgumentParser

/// The options for reading recordings and dividing them into windows, for models of sounds, activities and actions.
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

    @Option(help: "Actions: the frame rate, frames of a video that are used for each second; 30 by default.")
    var frameRate: Double?

    func validate() throws {
        if let frameRate, frameRate <= 0 || frameRate > 1000 {
            throw ValidationError("--frame-rate takes a number above 0, up to 1000")
        }
        if let overlap, !(0..<1).contains(overlap) {
            throw ValidationError("--overlap takes a number from 0 to below 1")
        }
    }

    /// The options, and whether each was given.
    var given: [(String, Bool)] {
        [
            ("--overlap", overlap != nil), ("--recording", recording != nil), ("--features", !features.isEmpty),
            ("--frame-rate", frameRate != nil),
        ]
    }

    var rate: Double { frameRate ?? 30 }
    var overlapFactor: Double { overlap ?? 0.5 }
    var recordingColumn: String { recording ?? "recording" }
    /// `nil` for the columns that the model names.
    var featureColumns: [String]? { features.isEmpty ? nil : features }
}
