import ArgumentParser
import CoreML
import Foundation
import MLEngine
import MLFiles
import MLNumerics
import MLSpecification

struct Predict: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "predict",
        abstract: "Predict with a model.",
        discussion: """
            Examples:
              coreml predict Digits.mlpackage -i image=three.png --top 3
              coreml predict Model.mlmodel -i x='[1.0, 2.5, 3.0]' -i exclude='["Water"]' \\
                --json
              coreml predict Segmenter.mlpackage pictures/ -o masks/
              coreml predict Cards.mlmodel table.jpg --draw found.png
              coreml predict Prices.mlmodel --csv houses.csv -o prices.csv
              coreml predict Birds.mlmodel dawn.wav --windows
              coreml predict Activities.mlmodel walk.csv -o walk.jsonl
              coreml predict Signs.mlmodel hand.jpg
              coreml predict Actions.mlmodel clip.mp4 --windows
              coreml predict Tagger.mlmodel --text 'Ann lives in Rome'
              coreml predict Films.mlmodel --observed ratings.csv --user 7 --k 5

            FILES are inputs of the model's kind, or folders of them: images for an image input, sounds, tables of sensor \
            samples, images of hands, videos or folders of their frames, tables of key points, texts. Each is a separate \
            prediction; for sounds, actions and poses the prediction of a file is the mean over its windows, for activities \
            there is one for each sample; with --windows there is one for each window, divided as in 'coreml evaluate'.

            --output writes one row for each: .csv and .jsonl files, .json (a list), .npz (arrays with that number of rows; the \
            values of dictionaries with their keys in NAME.labels, concatenated sequences with NAME.lengths), or a folder \
            of images. Images of other formats are PNG files beside them, represented by their paths; without --output \
            they are written to the working folder, named after the output.

            The states of a model start at zero for each prediction; with --repeat they continue from the previous one.
            """
    )

    @OptionGroup var source: RunOptions
    @OptionGroup var inputs: InputOptions
    @Argument(help: "Images, sounds, recordings, videos, tables of key points or texts, or folders of them.")
    var files: [String] = []
    @Option(help: "A CSV file whose header names the inputs; each row is a prediction.")
    var csv: String?
    @OptionGroup var cells: DelimiterOption
    @Option(help: "Text classifiers and taggers: predict this text; may be repeated.")
    var text: [String] = []
    @Flag(help: "Sounds, activities, actions and poses: a prediction for each window.")
    var windows = false
    @OptionGroup var cutting: WindowOptions
    @OptionGroup(title: "Recommending") var recommending: RecommendationOptions
    @Option(
        name: [.short, .long],
        help: "Write every output to this file: .csv, .json, .jsonl, .npz, .png, or folder/."
    )
    var output: String?
    @Option(help: "Detectors: draw the boxes on the images, into this .png or .jpg file, or folder/.")
    var draw: String?
    @Flag(help: "Print JSON.")
    var json = false
    @Option(help: "The number of a classifier's classes to print.")
    var top = 5
    @Option(name: .customLong("repeat"), help: "Predict this many times and print the time of the last run.")
    var repetitions = 1

    private static let optionsOfFiles: Set<String> = ["--windows", "--overlap", "--recording", "--features"]

    func validate() throws {
        guard repetitions > 0, top > 0 else { throw ValidationError("--repeat and --top take numbers from 1") }
        if let output { _ = try AnswerFormat(output) }
        guard csv == nil || (inputs.input.isEmpty && files.isEmpty && text.isEmpty && !recommending.areComplete) else {
            throw ValidationError(
                "--csv supplies all inputs; omit --input, files, --text, --items and --observed"
            )
        }
        guard text.isEmpty || (inputs.input.isEmpty && files.isEmpty) else {
            throw ValidationError("--text supplies all inputs; omit --input and files")
        }
    }

    func run() throws {
        inputs.apply()
        let opened = try source.open(for: .prediction)
        let answers = try answers(of: opened)
        var sinks: [any AnswerSink] = []
        let pictures = try pictures(of: answers)
        let names = answers.outputs.map(\.name)
        if let output {
            let format = try AnswerFormat(output)
            sinks.append(try format.sink(output, of: answers, pictures))
        }
        if let draw { sinks.append(try DrawnBoxes(draw, isList: answers.isList, opened.specification)) }
        if json {
            sinks.append(ObjectAnswers(nil, answers.isList ? .list : .single, names, pictures))
        } else if output == nil {
            sinks.append(PredictionText(top: top, isList: answers.isList, names: names, pictures: pictures))
        }
        try answers.answers { answer in
            pictures.next()
            for index in sinks.indices { try sinks[index].receive(answer) }
        }
        for index in sinks.indices { try sinks[index].finish() }
    }

    /// - Throws: When the outputs do not fit the file's format, before anything is written.
    private func pictures(of answers: some AnswerSource) throws -> PictureFiles {
        if let output { try AnswerFormat(output).check(answers, output) }
        return try PictureFiles(beside: output, answers)
    }

    /// The predictions that the command line requests.
    private func answers(of file: ModelFile) throws -> any AnswerSource {
        let subject = ModelSubject(file.specification)
        let given =
            [
                ("--text", !text.isEmpty), ("--windows", windows),
            ] + cutting.given + recommending.given
        if let option = given.first(where: { $0.1 && !subject.options.contains($0.0) })?.0 {
            throw Failure("\(option) does not apply to this model; see 'coreml predict --help'")
        }
        if files.isEmpty, let option = given.first(where: { $0.1 && Self.optionsOfFiles.contains($0.0) })?.0 {
            throw Failure("\(option) applies to files that are divided into windows; pass them after the model's path")
        }
        if !files.isEmpty, let kind = subject.files, let answers = try answers(about: kind, subject, file) {
            return answers
        }
        let engine = try source.engine(of: file)
        let predictor = Predictor(engine: engine, repetitions: repetitions)
        if let csv {
            guard repetitions == 1 else {
                throw Failure("--repeat cannot be combined with --csv; 'coreml bench' measures batches")
            }
            return TableRowAnswers(engine: engine, path: csv, delimiter: cells.delimiter)
        }
        switch subject {
        case .texts(let input) where !text.isEmpty:
            return TextAnswers(predictor: predictor, texts: text, input: input)
        case .texts(let input) where !files.isEmpty:
            let list = try FileList(files, .texts)
            return FileAnswers(predictor: predictor, files: list, input: input, arguments: inputs.input)
        case .pictures(let input) where !files.isEmpty:
            // The image is an additional input.
            let own = inputs.input.filter { $0.hasPrefix(input.name + "=") }
            return FileAnswers(
                predictor: predictor,
                files: try FileList(own.map { String($0.dropFirst(input.name.count + 1)) } + files, .pictures),
                input: input,
                arguments: inputs.input.filter { !own.contains($0) }
            )
        case .recommendations(let parameters) where recommending.areComplete && files.isEmpty:
            return RecommendationAnswers(
                predictor: predictor,
                parameters: parameters,
                options: recommending,
                delimiter: cells.delimiter,
                arguments: inputs.input
            )
        default:
            guard files.isEmpty else {
                let list = InputReader(interface: engine.interface).inputList
                throw Failure("the model has no input for files: pass '\(files[0])' with --input or --csv\n\(list)")
            }
            return InputAnswers(predictor: predictor, arguments: inputs.input)
        }
    }

    /// The predictions for files that are divided into windows; `nil` for other models.
    private func answers(
        about kind: FileList.Kind,
        _ subject: ModelSubject,
        _ file: ModelFile
    ) throws -> (any AnswerSource)? {
        func model() throws -> (MLModel, FileList) {
            guard inputs.input.isEmpty else { throw Failure("the files supply all inputs; omit --input") }
            guard repetitions == 1 else {
                throw Failure("--repeat applies to one prediction, not to windows of files")
            }
            return (try MLModel(file, configuration: MLModelConfiguration()), try FileList(files, kind))
        }
        switch subject {
        case .sounds:
            let (model, list) = try model()
            return SoundAnswers(model: model, files: list, overlap: cutting.overlapFactor, areWindows: windows)
        case .activities:
            let (model, list) = try model()
            return ActivityAnswers(
                model: model,
                files: list,
                features: cutting.featureColumns,
                recordingColumn: cutting.recordingColumn,
                delimiter: cells.delimiter,
                areWindows: windows
            )
        case .keypoints:
            let (model, list) = try model()
            return KeypointAnswers(model: model, files: list, frameRate: cutting.rate, areWindows: windows)
        case .texts, .pictures, .recommendations, .rows: return nil
        }
    }
}
