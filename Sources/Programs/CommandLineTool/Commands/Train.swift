import ArgumentParser
import CreateML

/// `coreml train`: a command for each kind of data.
struct Train: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "train",
        abstract: "Train a model from data.",
        discussion: """
            Examples:
              coreml train tabular houses.csv --target price
              coreml train text mail.csv --label folder --report mail.html
              coreml train image flowers/ -o Flowers.mlmodel
              coreml train object cards/ -o Cards.mlmodel
              coreml train sound recordings/ -o Birds.mlmodel
              coreml train activity motion.csv --label activity --recording session
              coreml train hand-pose signs/ -o Signs.mlmodel
              coreml train action videos/ -o Actions.mlmodel
              coreml train recommender orders.csv --user customer --item product
              coreml train style mosaic.jpg photos/ -o Mosaic.mlmodel
            """,
        subcommands: [
            TrainTabular.self, TrainText.self, TrainImage.self, TrainObject.self, TrainSound.self,
            TrainActivity.self, TrainHandPose.self, TrainHandAction.self, TrainAction.self, TrainRecommender.self,
            TrainStyle.self,
        ]
    )
}

/// The options common to all kinds of training.
struct TrainingOptions: ParsableArguments {
    @Option(name: [.short, .long], help: "The file to write the model to: a .mlmodel or a .mlpackage.")
    var output: String?
    @Option(help: "A folder for checkpoints; running the same command again continues from them.")
    var resume: String?
    @Option(help: "The number of iterations between two checkpoints.")
    var checkpointInterval = 10
    @Option(help: "Write the report to this file: an .html page, or an image: .png, .svg or .pdf.")
    var report: String?
    @Option(help: "The number of worker threads; all cores by default.")
    var threads: Int?
    @Flag(help: "Print a JSON object for each iteration and for the end.")
    var json = false

    func validate() throws {
        guard checkpointInterval > 0 else { throw ValidationError("--checkpoint-interval takes numbers from 1") }
        guard threads ?? 1 > 0 else { throw ValidationError("--threads takes numbers from 1") }
        if let output, ![".mlmodel", ".mlpackage"].contains(where: output.hasSuffix) {
            throw ValidationError("--output takes a name that ends in .mlmodel or .mlpackage, not '\(output)'")
        }
        try ReportFile.validate(report)
    }
}

/// The options for validation data.
struct ValidationOptions: ParsableArguments {
    @Option(help: "Validation data in the form of DATA; by default a part of DATA is held out.")
    var validation: String?
    @Option(help: "The share of DATA to hold out for validation; 0 for none.")
    var validationShare: Double?

    func validate() throws {
        guard validation == nil || validationShare == nil else {
            throw ValidationError("--validation supplies the data; omit --validation-share")
        }
        if let validationShare, !(0..<1).contains(validationShare) {
            throw ValidationError("--validation-share takes a number from 0 to below 1")
        }
    }

    /// The requested validation, in the task's form.
    /// - Parameters:
    ///   - seed: The seed of the split of `--validation-share`.
    ///   - none: No validation.
    ///   - split: Validation with a part of DATA.
    ///   - data: Validation with the data at a path.
    /// - Returns: The one that the options name.
    /// - Throws: The errors of `data`.
    func choice<Choice>(
        seed: Int?,
        none: Choice,
        split: (MLSplitStrategy) -> Choice,
        data: (String) throws -> Choice
    ) rethrows -> Choice {
        if let validation { return try data(validation) }
        switch validationShare {
        case 0?: return none
        case let share?: return split(.fixed(ratio: share, seed: seed ?? 42))
        case nil: return split(.automatic)
        }
    }
}

/// The options for validation data of kinds of training whose only random choice that a seed can fix is the split.
struct SplitOptions: ParsableArguments {
    @OptionGroup var data: ValidationOptions
    @Option(help: "The random seed of --validation-share; 42 by default.")
    var seed: Int?

    func validate() throws {
        guard seed == nil || data.validationShare != nil else {
            throw ValidationError("--seed chooses the part that --validation-share holds out; give that, too")
        }
    }

    /// The requested validation, in the task's form, as `ValidationOptions.choice`.
    func choice<Choice>(
        none: Choice,
        split: (MLSplitStrategy) -> Choice,
        data source: (String) throws -> Choice
    ) rethrows -> Choice {
        try data.choice(seed: seed, none: none, split: split, data: source)
    }
}
